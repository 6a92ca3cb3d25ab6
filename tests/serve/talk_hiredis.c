/* talk_hiredis.c - sends commands by hiredis and prints the replies, for clients.py.
 *
 *     talk_hiredis single HOST PORT PROTOCOL
 *
 * The lines of input and output are those of talk_redis_py.py.  hiredis has no cluster client, and
 * RESP3 from version 1.0 on. */
#include <hiredis/hiredis.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *text)
{
    fprintf(stderr, "talk_hiredis: %s\n", text);
    exit(1);
}

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static json_t *bytes_of(const char *text, size_t size)
{
    char *hex = malloc(2 * size + 1);
    if (hex == NULL)
        fail("out of memory");
    for (size_t i = 0; i < size; i++)
        sprintf(hex + 2 * i, "%02x", (unsigned char)text[i]);
    hex[2 * size] = 0;
    json_t *value = json_pack("{s:s}", "b", hex);
    free(hex);
    return value;
}

static json_t *plain(const redisReply *reply);

static json_t *array_of(const redisReply *reply)
{
    json_t *array = json_array();
    for (size_t i = 0; i < reply->elements; i++)
        json_array_append_new(array, plain(reply->element[i]));
    return array;
}

#ifdef REDIS_REPLY_MAP
static json_t *map_of(const redisReply *reply)
{
    json_t *pairs = json_array();
    for (size_t i = 0; i + 1 < reply->elements; i += 2)
        json_array_append_new(
            pairs, json_pack("[o,o]", plain(reply->element[i]), plain(reply->element[i + 1])));
    return json_pack("{s:o}", "m", pairs);
}
#endif

static json_t *plain(const redisReply *reply)
{
    switch (reply->type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
        return bytes_of(reply->str, (size_t)reply->len);
    case REDIS_REPLY_ERROR:
        return json_pack("{s:s}", "e", reply->str);
    case REDIS_REPLY_INTEGER:
        return json_integer(reply->integer);
    case REDIS_REPLY_NIL:
        return json_null();
    case REDIS_REPLY_ARRAY:
        return array_of(reply);
#ifdef REDIS_REPLY_MAP
    case REDIS_REPLY_MAP:
        return map_of(reply);
    case REDIS_REPLY_DOUBLE:
        return json_real(reply->dval);
#endif
    }
    fail("a reply of an unknown type");
    return NULL;
}

/* Appends one command, an array of hexadecimal strings, to what is sent next. */
static void append(redisContext *server, const json_t *command)
{
    size_t n = json_array_size(command);
    char **argument = calloc(n, sizeof *argument);
    size_t *size = calloc(n, sizeof *size);
    if (argument == NULL || size == NULL)
        fail("out of memory");
    for (size_t i = 0; i < n; i++) {
        const char *hex = json_string_value(json_array_get(command, i));
        size[i] = strlen(hex) / 2;
        if ((argument[i] = malloc(size[i] + 1)) == NULL)
            fail("out of memory");
        for (size_t at = 0; at < size[i]; at++)
            argument[i][at] = (char)(digit(hex[2 * at]) << 4 | digit(hex[2 * at + 1]));
    }
    redisAppendCommandArgv(server, (int)n, (const char **)argument, size);
    for (size_t i = 0; i < n; i++)
        free(argument[i]);
    free(argument);
    free(size);
}

static json_t *received(redisContext *server, size_t n)
{
    json_t *replies = json_array();
    for (size_t i = 0; i < n; i++) {
        void *reply;
        if (redisGetReply(server, &reply) != REDIS_OK)
            fail(server->errstr);
        json_array_append_new(replies, plain(reply));
        freeReplyObject(reply);
    }
    return replies;
}

int main(int argc, char **argv)
{
    if (argc != 5 || strcmp(argv[1], "single") != 0)
        fail("usage: talk_hiredis single HOST PORT PROTOCOL");
    redisContext *server = redisConnect(argv[2], atoi(argv[3]));
    if (server == NULL || server->err != 0)
        fail(server == NULL ? "out of memory" : server->errstr);
    if (strcmp(argv[4], "3") == 0)
        freeReplyObject(redisCommand(server, "HELLO 3"));
    printf("\"%d.%d.%d\"\n", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
    fflush(stdout);
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        json_t *commands = json_loads(line, 0, NULL);
        for (size_t i = 0; i < json_array_size(commands); i++)
            append(server, json_array_get(commands, i));
        json_t *replies = received(server, json_array_size(commands));
        json_dumpf(replies, stdout, JSON_COMPACT);
        printf("\n");
        fflush(stdout);
        json_decref(replies);
        json_decref(commands);
    }
    free(line);
    redisFree(server);
    return 0;
}
