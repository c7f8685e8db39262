create table orders (
  id text primary key,
  version bigint not null,
  customer text not null,
  article text not null,
  quantity integer not null check (quantity > 0),
  state text not null
);

-- Of the warehouse, which would have a database of its own elsewhere.
create table stock (
  article text primary key,
  taken integer not null
);
create table mail (
  id bigint generated always as identity primary key,
  order_id text not null,
  customer text not null,
  subject text not null
);
create index mail_of_order on mail (order_id);
