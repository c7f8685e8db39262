# frozen_string_literal: true

require "json"
require "pg"

# Appends messages to the outbox.
module Outbox
  DEDUP = "insert into outbox_dedup (dedup_key) values ($1) on conflict do nothing"

  INSERT = <<~SQL
    insert into outbox_message (aggregate_type, aggregate_id, event_type, partition_key, payload,
      content_type, headers, correlation_id, dedup_key)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    returning id
  SQL

  Message = Struct.new(:aggregate_type, :aggregate_id, :event_type, :payload, :partition_key,
                       :content_type, :headers, :correlation_id, :dedup_key, keyword_init: true)

  # Appends in the connection's transaction, behind the change that the message tells of.
  # Gives the message's id, or nil when its dedup key was used before.
  def self.append(connection, message)
    check(message)
    if message.dedup_key
      first = connection.exec_params(DEDUP, [message.dedup_key])
      return nil if first.cmd_tuples.zero?
    end
    inserted = connection.exec_params(INSERT, [
      message.aggregate_type, message.aggregate_id, message.event_type, message.partition_key,
      # As bytes. Text that is bound as it is loses its backslashes.
      { value: message.payload, format: 1 },
      message.content_type || "application/json", JSON.generate(message.headers || []),
      message.correlation_id, message.dedup_key
    ])
    inserted.getvalue(0, 0)
  end

  # The database lets a blank text pass, and cuts spaces off behind the 255th character.
  def self.check(message)
    message.each_pair do |name, text|
      next if text.nil? || %i[payload headers].include?(name)
      raise ArgumentError, "#{name} is not UTF-8" unless text.valid_encoding?
      raise ArgumentError, "#{name} is blank: give it at least one visible character" if text.strip.empty?
      if text.length > 255
        raise ArgumentError, "#{name} has #{text.length} characters, at most 255 are allowed"
      end
    end
    (message.headers || []).each do |name, value|
      # JSON can have it, and no relay can take it.
      raise ArgumentError, "header #{name.inspect} has a NUL: remove it" if "#{name}#{value}".include?("\0")
    end
  end
  private_class_method :check
end
