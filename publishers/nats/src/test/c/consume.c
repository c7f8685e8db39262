/*
 * Reads all messages of a stream with NATS's client for C, and prints each as one line: the bytes of
 * the message in hexadecimal, and then name=value of each header, values in hexadecimal too.
 *
 *   consume URL STREAM SUBJECTS COUNT
 */
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(natsStatus status, const char *what) {
  if (status != NATS_OK) {
    fprintf(stderr, "%s: %s\n", what, natsStatus_GetText(status));
    exit(1);
  }
}

static void hex(const char *bytes, int length) {
  for (int i = 0; i < length; i++) {
    printf("%02x", (unsigned char) bytes[i]);
  }
}

static void print(natsMsg *message) {
  const char **names = NULL;
  int count = 0;
  hex(natsMsg_GetData(message), natsMsg_GetDataLength(message));
  check(natsMsgHeader_Keys(message, &names, &count), "headers");
  for (int i = 0; i < count; i++) {
    const char **values = NULL;
    int many = 0;
    check(natsMsgHeader_Values(message, names[i], &values, &many), names[i]);
    for (int j = 0; j < many; j++) {
      printf(" %s=", names[i]);
      hex(values[j], (int) strlen(values[j]));
    }
    free((void *) values);
  }
  free((void *) names);
  printf("\n");
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: consume URL STREAM SUBJECTS COUNT\n");
    return 2;
  }
  natsConnection *connection = NULL;
  jsCtx *stream = NULL;
  natsSubscription *subscription = NULL;
  jsSubOptions options;
  check(natsConnection_ConnectTo(&connection, argv[1]), "connect");
  check(natsConnection_JetStream(&stream, connection, NULL), "JetStream");
  check(jsSubOptions_Init(&options), "options");
  options.Stream = argv[2];
  options.Ordered = true;
  check(js_SubscribeSync(&subscription, stream, argv[3], NULL, &options, NULL), "subscribe");
  for (int i = 0; i < atoi(argv[4]); i++) {
    natsMsg *message = NULL;
    check(natsSubscription_NextMsg(&message, subscription, 30000), "next");
    print(message);
    natsMsg_Destroy(message);
  }
  natsSubscription_Destroy(subscription);
  jsCtx_Destroy(stream);
  natsConnection_Destroy(connection);
  return 0;
}
