// Search: the index is loaded when somebody begins to type.
const top_ = document.currentScript.dataset.top;
const box = document.getElementById('search');
const found = document.getElementById('found');

function load() {
  const script = document.createElement('script');
  script.src = top_ + 'index.js';
  script.onload = show;
  document.head.append(script);
}

function show() {
  found.replaceChildren();
  const words = box.value.toLowerCase().split(/\s+/).filter(word => word);
  if (!words.length || typeof index === 'undefined') return;
  index
    .map(([url, page, title, text]) => {
      const head = (page + ' ' + title).toLowerCase();
      const body = text.toLowerCase();
      const points = words.map(word =>
        (title.toLowerCase().includes(word) ? 5 : head.includes(word) ? 3 : 0) + Math.min(body.split(word).length - 1, 4));
      const score = points.includes(0) ? 0 : points.reduce((sum, point) => sum + point);
      // Users' pages before those of the design.
      return {url, page, title, text, at: body.indexOf(words[0]), score: url.includes('/design/') ? score / 2 : score};
    })
    .filter(hit => hit.score)
    .sort((one, other) => other.score - one.score)
    .slice(0, 15)
    .forEach(hit => {
      const link = document.createElement('a');
      const name = document.createElement('b');
      const text = document.createElement('span');
      link.href = top_ + hit.url;
      name.textContent = hit.page === hit.title ? hit.page : hit.page + ' \u203a ' + hit.title;
      text.textContent = hit.text.substring(hit.at - 60, hit.at + 120);
      link.append(name, text);
      found.append(document.createElement('li'));
      found.lastChild.append(link);
    });
}

box.addEventListener('focus', load, {once: true});
box.addEventListener('input', show);
document.addEventListener('keydown', event => {
  const links = [...found.querySelectorAll('a')];
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (event.key === '/' && document.activeElement !== box) {
    event.preventDefault();
    box.focus();
  } else if (event.key === 'Escape') {
    box.value = '';
    show();
  } else if (event.key === 'Enter' && document.activeElement === box && links.length) {
    links[0].click();
  } else if (step && links.length) {
    event.preventDefault();
    (links[links.indexOf(document.activeElement) + step] || box).focus();
  }
});
document.addEventListener('click', event => {
  if (!found.contains(event.target) && event.target !== box) found.replaceChildren();
});
