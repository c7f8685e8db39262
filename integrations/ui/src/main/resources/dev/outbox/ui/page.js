// Renews the marked parts of the page, while somebody looks at it and is not busy with it.
const PAUSE = 5000;
const PATIENCE = 15000;

const isBusy = () =>
  document.hidden ||
  document.querySelector('main :focus-visible') ||
  !getSelection().isCollapsed;

async function renew() {
  const parts = document.querySelectorAll('[data-live]');
  if (parts.length === 0) {
    return;
  }
  if (!isBusy()) {
    let isOld = false;
    try {
      const answer = await fetch(location.href, {signal: AbortSignal.timeout(PATIENCE)});
      isOld = !answer.ok;
      if (answer.ok) {
        replace(parts, new DOMParser().parseFromString(await answer.text(), 'text/html'));
      }
    } catch {
      isOld = true;
    }
    document.getElementById('stale').hidden = !isOld;
  }
  setTimeout(renew, PAUSE);
}

function replace(parts, page) {
  for (const part of parts) {
    const now = page.getElementById(part.id);
    if (now && now.innerHTML !== part.innerHTML && !isBusy()) {
      part.replaceChildren(...now.childNodes);
    }
  }
}

setTimeout(renew, PAUSE);
