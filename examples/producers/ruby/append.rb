# frozen_string_literal: true

# Appends the messages of standard input, one JSON object a line, each in its own transaction.

require_relative "outbox"

def message(line)
  fields = JSON.parse(line, symbolize_names: true)
  bytes = fields.delete(:payload_base64)
  fields[:payload] = bytes.unpack1("m0") if bytes
  Outbox::Message.new(**fields)
end

# Where the database is, PGHOST, PGUSER and the like say.
connection = PG.connect
$stdin.set_encoding(Encoding::UTF_8)
$stdin.each_line do |line|
  said =
    begin
      id = connection.transaction do
        # Your own change comes first, in this transaction.
        Outbox.append(connection, message(line))
      end
      id ? { id: id } : { duplicate: true }
    rescue ArgumentError, JSON::ParserError, PG::Error => e
      { error: e.message.lines.first.chomp } # behind it PostgreSQL may show the row
    end
  puts JSON.generate(said)
  $stdout.flush
end
