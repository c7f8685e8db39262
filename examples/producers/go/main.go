// Appends the messages of standard input, one JSON object a line, each in its own transaction.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"

	_ "github.com/lib/pq"
)

type line struct {
	AggregateType string      `json:"aggregate_type"`
	AggregateID   string      `json:"aggregate_id"`
	EventType     string      `json:"event_type"`
	PartitionKey  string      `json:"partition_key"`
	Payload       string      `json:"payload"`
	PayloadBase64 []byte      `json:"payload_base64"`
	ContentType   string      `json:"content_type"`
	Headers       [][2]string `json:"headers"`
	CorrelationID string      `json:"correlation_id"`
	DedupKey      string      `json:"dedup_key"`
}

func (l line) message() Message {
	payload := l.PayloadBase64
	if payload == nil {
		payload = []byte(l.Payload)
	}
	return Message{l.AggregateType, l.AggregateID, l.EventType, l.PartitionKey, payload,
		l.ContentType, l.Headers, l.CorrelationID, l.DedupKey}
}

func inTransaction(ctx context.Context, db *sql.DB, m Message) (string, error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer tx.Rollback() // after a commit it does nothing
	// Your own change comes first, in this transaction.
	id, err := Append(ctx, tx, m)
	if err != nil {
		return "", err
	}
	return id, tx.Commit()
}

func main() {
	// Where the database is, PGHOST, PGUSER and the like say.
	db, err := sql.Open("postgres", "")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := json.NewEncoder(os.Stdout)
	for {
		var l line
		if err := in.Decode(&l); err == io.EOF {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		said := map[string]any{}
		id, err := inTransaction(context.Background(), db, l.message())
		switch {
		case errors.Is(err, ErrDuplicate):
			said["duplicate"] = true
		case err != nil:
			said["error"] = err.Error()
		default:
			said["id"] = id
		}
		if err := out.Encode(said); err != nil {
			log.Fatal(err)
		}
	}
}
