--liquibase formatted sql
--changeset shop:1
create table customer (name text);
insert into customer (name) values ('first');
