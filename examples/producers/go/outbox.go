package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

const dedup = `insert into outbox_dedup (dedup_key) values ($1) on conflict do nothing`

const insert = `
insert into outbox_message (aggregate_type, aggregate_id, event_type, partition_key, payload,
  content_type, headers, correlation_id, dedup_key)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
returning id`

// Message is what is appended. Texts that are empty are left out, where they may be.
type Message struct {
	AggregateType string
	AggregateID   string
	EventType     string
	PartitionKey  string
	// Bytes, not a string: pgx binds a string to this column with a loss of backslashes.
	Payload       []byte
	ContentType   string
	Headers       [][2]string
	CorrelationID string
	DedupKey      string
}

// ErrDuplicate says that the message's dedup key was used before. Nothing was appended, and the
// transaction can go on.
var ErrDuplicate = errors.New("the dedup key was used before")

// Append appends in the transaction, behind the change that the message tells of. It gives the
// message's id.
func Append(ctx context.Context, tx *sql.Tx, m Message) (string, error) {
	if m.ContentType == "" {
		m.ContentType = "application/json"
	}
	if m.Headers == nil {
		m.Headers = [][2]string{}
	}
	headers, err := check(m)
	if err != nil {
		return "", err
	}
	if m.DedupKey != "" {
		result, err := tx.ExecContext(ctx, dedup, m.DedupKey)
		if err != nil {
			return "", err
		}
		first, err := result.RowsAffected()
		if err != nil {
			return "", err
		}
		if first == 0 {
			return "", ErrDuplicate
		}
	}
	// A nil slice would be null.
	payload := append([]byte{}, m.Payload...)
	var id string
	err = tx.QueryRowContext(ctx, insert, m.AggregateType, m.AggregateID, m.EventType,
		orNull(m.PartitionKey), payload, m.ContentType, string(headers), orNull(m.CorrelationID),
		orNull(m.DedupKey)).Scan(&id)
	return id, err
}

func orNull(text string) sql.NullString {
	return sql.NullString{String: text, Valid: text != ""}
}

// check refuses what the database would not, or what would arrive changed, and gives the headers
// as JSON.
func check(m Message) ([]byte, error) {
	texts := []struct {
		name, text string
		required   bool
	}{
		{"AggregateType", m.AggregateType, true},
		{"AggregateID", m.AggregateID, true},
		{"EventType", m.EventType, true},
		{"PartitionKey", m.PartitionKey, false},
		{"ContentType", m.ContentType, true},
		{"CorrelationID", m.CorrelationID, false},
		{"DedupKey", m.DedupKey, false},
	}
	for _, t := range texts {
		if strings.TrimSpace(t.text) == "" && (t.required || t.text != "") {
			return nil, fmt.Errorf("%s is blank: give it at least one visible character", t.name)
		}
		if size := utf8.RuneCountInString(t.text); size > 255 {
			return nil, fmt.Errorf("%s has %d characters, at most 255 are allowed", t.name, size)
		}
	}
	for _, header := range m.Headers {
		// encoding/json would write U+FFFD.
		if !utf8.ValidString(header[0]) || !utf8.ValidString(header[1]) {
			return nil, fmt.Errorf("header %q is not UTF-8", header[0])
		}
		// JSON can have it, and no relay can take it.
		if strings.Contains(header[0]+header[1], "\x00") {
			return nil, fmt.Errorf("header %q has a NUL: remove it", header[0])
		}
	}
	return json.Marshal(m.Headers)
}
