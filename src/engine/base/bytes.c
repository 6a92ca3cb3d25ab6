/* bytes.c - little-endian bytes whatever the machine, and CRC-64. */
#include "engine/base/bytes.h"

#include <string.h>

void put_bytes(writer *w, const void *bytes, size_t n)
{
    if (w->at && n && w->used <= w->capacity && n <= w->capacity - w->used)
        memcpy(w->at + w->used, bytes, n);
    w->used += n;
}

static void put_little(writer *w, uint64_t value, size_t n)
{
    unsigned char byte[8];
    for (size_t i = 0; i < n; i++)
        byte[i] = (unsigned char)(value >> (8 * i));
    put_bytes(w, byte, n);
}

void put_u32(writer *w, uint32_t value)
{
    put_little(w, value, 4);
}

void put_u64(writer *w, uint64_t value)
{
    put_little(w, value, 8);
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { LITTLE = 1 };
#else
enum { LITTLE = 0 };
#endif

void put_f64s(writer *w, const double *value, size_t n)
{
    if (LITTLE || !w->at) {
        put_bytes(w, value, n * sizeof *value);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &value[i], sizeof bits);
        put_u64(w, bits);
    }
}

void get_bytes(reader *r, void *bytes, size_t n)
{
    if (r->failed || n > r->left) {
        r->failed = true;
        if (n)
            memset(bytes, 0, n);
        return;
    }
    if (n)
        memcpy(bytes, r->at, n);
    r->at += n;
    r->left -= n;
}

static uint64_t get_little(reader *r, size_t n)
{
    unsigned char byte[8];
    uint64_t value = 0;
    get_bytes(r, byte, n);
    for (size_t i = 0; i < n; i++)
        value |= (uint64_t)byte[i] << (8 * i);
    return value;
}

uint32_t get_u32(reader *r)
{
    return (uint32_t)get_little(r, 4);
}

uint64_t get_u64(reader *r)
{
    return get_little(r, 8);
}

void get_f64s(reader *r, double *value, size_t n)
{
    if (LITTLE && n <= SIZE_MAX / sizeof *value) {
        get_bytes(r, value, n * sizeof *value);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = get_u64(r);
        memcpy(&value[i], &bits, sizeof bits);
    }
}

/* ---- CRC-64/XZ, eight bytes a step

   A step that shifts one bit out of the register, f(x) = x >> 1 ^ (x & 1 ? P : 0) with P =
   0xC96C5795D7870F42, is linear over xor.  So the entry of byte i in the table of k further bytes,
   f applied 8 (k + 1) times to i, is the xor of one constant for each bit b of i: f applied 8 (k +
   1) - b times to 1.  Those 64 constants are all that is written down here; the compiler makes the
   eight tables of 256 from them. */

#define BITS0(i)                                                                                   \
    XOR8(i, 0xB32E4CBE03A75F6Fu, 0xF4843657A840A05Bu, 0x7BD0C384FF8F5E33u, 0xF7A18709FF1EBC66u,    \
         0x7D9BA13851336649u, 0xFB374270A266CC92u, 0x64B62BCAEBC387A1u, 0xC96C5795D7870F42u)
#define BITS1(i)                                                                                   \
    XOR8(i, 0x54E979925CD0F10Du, 0xA9D2F324B9A1E21Au, 0xC17D4962DC4DDAB1u, 0x10223DEE1795ABE7u,    \
         0x20447BDC2F2B57CEu, 0x4088F7B85E56AF9Cu, 0x8111EF70BCAD5F38u, 0x90FB71CAD654A0F5u)
#define BITS2(i)                                                                                   \
    XOR8(i, 0x3F0BE14A916A6DCBu, 0x7E17C29522D4DB96u, 0xFC2F852A45A9B72Cu, 0x6A87A57F245D70DDu,    \
         0xD50F4AFE48BAE1BAu, 0x38C63AD73E7BDDF1u, 0x718C75AE7CF7BBE2u, 0xE318EB5CF9EF77C4u)
#define BITS3(i)                                                                                   \
    XOR8(i, 0x1DEE8A5E222CA1DCu, 0x3BDD14BC445943B8u, 0x77BA297888B28770u, 0xEF7452F111650EE0u,    \
         0x4C300AC98DC40345u, 0x986015931B88068Au, 0xA218840D981E1391u, 0xD6E9A7309F3239A7u)
#define BITS4(i)                                                                                   \
    XOR8(i, 0x5C2D776033C4205Eu, 0xB85AEEC0678840BCu, 0xE26D72AB601E9FFDu, 0x56024A7D6F33217Fu,    \
         0xAC0494FADE6642FEu, 0xCAD186DE13C29B79u, 0x077BA297888B2877u, 0x0EF7452F111650EEu)
#define BITS5(i)                                                                                   \
    XOR8(i, 0x6184D55F721267C6u, 0xC309AABEE424CF8Cu, 0x14CBFA566747819Du, 0x2997F4ACCE8F033Au,    \
         0x532FE9599D1E0674u, 0xA65FD2B33A3C0CE8u, 0xDE670A4DDB760755u, 0x2E16BBB019E2102Fu)
#define BITS6(i)                                                                                   \
    XOR8(i, 0x22EF0D5934F964ECu, 0x45DE1AB269F2C9D8u, 0x8BBC3564D3E593B0u, 0x85A0C5E208C539E5u,    \
         0x999924EFBE846D4Fu, 0xA1EAE6F4D206C41Bu, 0xD10D62C20B0396B3u, 0x30C26AAFB90933E3u)
#define BITS7(i)                                                                                   \
    XOR8(i, 0xDABE95AFC7875F40u, 0x27A584742000A005u, 0x4F4B08E84001400Au, 0x9E9611D080028014u,    \
         0xAFF48C8AAF0B1EADu, 0xCD31B63EF11823DFu, 0x08BBC3564D3E593Bu, 0x117786AC9A7CB276u)
#define XOR8(i, a, b, c, d, e, f, g, h)                                                            \
    (((i)&1 ? (a) : 0) ^ ((i)&2 ? (b) : 0) ^ ((i)&4 ? (c) : 0) ^ ((i)&8 ? (d) : 0) ^               \
     ((i)&16 ? (e) : 0) ^ ((i)&32 ? (f) : 0) ^ ((i)&64 ? (g) : 0) ^ ((i)&128 ? (h) : 0))
#define ENTRIES4(bits, i) bits(i), bits((i) + 1), bits((i) + 2), bits((i) + 3)
#define ENTRIES16(bits, i)                                                                         \
    ENTRIES4(bits, i), ENTRIES4(bits, (i) + 4), ENTRIES4(bits, (i) + 8), ENTRIES4(bits, (i) + 12)
#define ENTRIES64(bits, i)                                                                         \
    ENTRIES16(bits, i), ENTRIES16(bits, (i) + 16), ENTRIES16(bits, (i) + 32),                      \
        ENTRIES16(bits, (i) + 48)
#define ENTRIES256(bits)                                                                           \
    {                                                                                              \
        ENTRIES64(bits, 0), ENTRIES64(bits, 64), ENTRIES64(bits, 128), ENTRIES64(bits, 192)        \
    }

static const uint64_t crc_table[8][256] = {ENTRIES256(BITS0), ENTRIES256(BITS1), ENTRIES256(BITS2),
                                           ENTRIES256(BITS3), ENTRIES256(BITS4), ENTRIES256(BITS5),
                                           ENTRIES256(BITS6), ENTRIES256(BITS7)};

static uint64_t word_at(const unsigned char *at)
{
    uint64_t word = 0;
    if (LITTLE) {
        memcpy(&word, at, sizeof word);
        return word;
    }
    for (int i = 8; i-- > 0;)
        word = word << 8 | at[i];
    return word;
}

uint64_t crc64(const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    uint64_t crc = ~(uint64_t)0;
    for (; n >= 8; at += 8, n -= 8) {
        uint64_t x = crc ^ word_at(at);
        crc = crc_table[7][x & 0xFF] ^ crc_table[6][x >> 8 & 0xFF] ^ crc_table[5][x >> 16 & 0xFF] ^
              crc_table[4][x >> 24 & 0xFF] ^ crc_table[3][x >> 32 & 0xFF] ^
              crc_table[2][x >> 40 & 0xFF] ^ crc_table[1][x >> 48 & 0xFF] ^ crc_table[0][x >> 56];
    }
    for (; n > 0; at++, n--)
        crc = crc_table[0][(crc ^ *at) & 0xFF] ^ crc >> 8;
    return ~crc;
}
