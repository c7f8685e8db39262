Statements for SQL Server, by name.

--: grant
select 'grant create schema, create table to [' + system_user + ']'

--: sessions
select session_id from sys.dm_exec_sessions
where program_name like ? escape '!' and session_id <> @@spid

--: end session
kill %s

--: torture lock key
select 1 from ${q}torture_key with (updlock, rowlock) where name = ?

--: torture read key
select last from ${q}torture_key where name = ?
