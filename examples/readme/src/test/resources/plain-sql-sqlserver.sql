-- tag::insert
insert into outbox_message (aggregate_type, aggregate_id, event_type, payload)
values (N'order', N'order-1', N'OrderPaid',
  convert(varbinary(max), cast(N'{"total": 12.50}' collate Latin1_General_100_BIN2_UTF8 as varchar(max))));
-- end::insert

-- tag::unordered
declare @id uniqueidentifier = newid();
insert into outbox_message (id, partition_key, aggregate_type, aggregate_id, event_type, payload)
values (@id, convert(nvarchar(36), @id), N'order', N'order-1', N'OrderViewed', 0x7b7d);
-- end::unordered

-- tag::dedup
insert into outbox_dedup (dedup_key) values (N'order-1 paid by request-17');
if @@rowcount = 1
  insert into outbox_message (aggregate_type, aggregate_id, event_type, payload, dedup_key)
  values (N'order', N'order-1', N'OrderPaid', 0x7b7d, N'order-1 paid by request-17');
-- end::dedup

-- tag::ghosts
select ghost_record_count, version_ghost_record_count
from sys.dm_db_index_physical_stats(db_id(), object_id(N'outbox_message'), 1, null, N'DETAILED')
where index_level = 0 and alloc_unit_type_desc = N'IN_ROW_DATA';
-- end::ghosts
