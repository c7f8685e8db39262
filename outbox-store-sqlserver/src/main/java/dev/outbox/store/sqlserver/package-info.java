/** The outbox on SQL Server 2019 and newer, and on Azure SQL. */
@NullMarked
package dev.outbox.store.sqlserver;

import org.jspecify.annotations.NullMarked;
