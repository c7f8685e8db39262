Statements for SQL Server, by name.

--: grant
select 'grant create schema, create table to [' + system_user + ']'

--: sessions
select session_id from sys.dm_exec_sessions
where program_name like ? escape '!' and session_id <> @@spid

--: end session
kill %s
