/* bytes.c - little-endian bytes whatever the machine, CRC-64 and CRC-32C. */
#include "engine/base/bytes.h"

#include <string.h>

void put_f64s(writer *w, const double *value, size_t n)
{
    if (BYTES_ARE_LITTLE || !w->at) {
        put_bytes(w, value, n * sizeof *value);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &value[i], sizeof bits);
        put_u64(w, bits);
    }
}

void put_f32s(writer *w, const float *value, size_t n)
{
    if (BYTES_ARE_LITTLE || !w->at) {
        put_bytes(w, value, n * sizeof *value);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &value[i], sizeof bits);
        put_u32(w, bits);
    }
}

const unsigned char *get_place(reader *r, size_t n)
{
    const unsigned char *place = r->at;
    if (r->failed || n > r->left) {
        r->failed = true;
        return NULL;
    }
    r->at += n;
    r->left -= n;
    return place;
}

void get_bytes(reader *r, void *bytes, size_t n)
{
    const unsigned char *place = get_place(r, n);
    if (n && place)
        memcpy(bytes, place, n);
    else if (n)
        memset(bytes, 0, n);
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
    if (BYTES_ARE_LITTLE && n <= SIZE_MAX / sizeof *value) {
        get_bytes(r, value, n * sizeof *value);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = get_u64(r);
        memcpy(&value[i], &bits, sizeof bits);
    }
}

void get_f32s(reader *r, float *value, size_t n)
{
    if (BYTES_ARE_LITTLE && n <= SIZE_MAX / sizeof *value) {
        get_bytes(r, value, n * sizeof *value);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = get_u32(r);
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
    if (BYTES_ARE_LITTLE) {
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

/* ---- CRC-32C, eight bytes a step: the same with P = 0x82F63B78 */

#define BITS32_0(i)                                                                                \
    XOR8(i, 0xF26B8303u, 0xE13B70F7u, 0xC79A971Fu, 0x8AD958CFu, 0x105EC76Fu, 0x20BD8EDEu,          \
         0x417B1DBCu, 0x82F63B78u)
#define BITS32_1(i)                                                                                \
    XOR8(i, 0x13A29877u, 0x274530EEu, 0x4E8A61DCu, 0x9D14C3B8u, 0x3FC5F181u, 0x7F8BE302u,          \
         0xFF17C604u, 0xFBC3FAF9u)
#define BITS32_2(i)                                                                                \
    XOR8(i, 0xA541927Eu, 0x4F6F520Du, 0x9EDEA41Au, 0x38513EC5u, 0x70A27D8Au, 0xE144FB14u,          \
         0xC76580D9u, 0x8B277743u)
#define BITS32_3(i)                                                                                \
    XOR8(i, 0xDD45AAB8u, 0xBF672381u, 0x7B2231F3u, 0xF64463E6u, 0xE964B13Du, 0xD725148Bu,          \
         0xABA65FE7u, 0x52A0C93Fu)
#define BITS32_4(i)                                                                                \
    XOR8(i, 0x38116FACu, 0x7022DF58u, 0xE045BEB0u, 0xC5670B91u, 0x8F2261D3u, 0x1BA8B557u,          \
         0x37516AAEu, 0x6EA2D55Cu)
#define BITS32_5(i)                                                                                \
    XOR8(i, 0xEF306B19u, 0xDB8CA0C3u, 0xB2F53777u, 0x6006181Fu, 0xC00C303Eu, 0x85F4168Du,          \
         0x0E045BEBu, 0x1C08B7D6u)
#define BITS32_6(i)                                                                                \
    XOR8(i, 0x68032CC8u, 0xD0065990u, 0xA5E0C5D1u, 0x4E2DFD53u, 0x9C5BFAA6u, 0x3D5B83BDu,          \
         0x7AB7077Au, 0xF56E0EF4u)
#define BITS32_7(i)                                                                                \
    XOR8(i, 0x493C7D27u, 0x9278FA4Eu, 0x211D826Du, 0x423B04DAu, 0x847609B4u, 0x0D006599u,          \
         0x1A00CB32u, 0x34019664u)

static const uint32_t crc32c_table[8][256] = {
    ENTRIES256(BITS32_0), ENTRIES256(BITS32_1), ENTRIES256(BITS32_2), ENTRIES256(BITS32_3),
    ENTRIES256(BITS32_4), ENTRIES256(BITS32_5), ENTRIES256(BITS32_6), ENTRIES256(BITS32_7)};

uint32_t crc32c(const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    uint32_t crc = ~(uint32_t)0;
    for (; n >= 8; at += 8, n -= 8) {
        uint64_t x = crc ^ word_at(at);
        crc = crc32c_table[7][x & 0xFF] ^ crc32c_table[6][x >> 8 & 0xFF] ^
              crc32c_table[5][x >> 16 & 0xFF] ^ crc32c_table[4][x >> 24 & 0xFF] ^
              crc32c_table[3][x >> 32 & 0xFF] ^ crc32c_table[2][x >> 40 & 0xFF] ^
              crc32c_table[1][x >> 48 & 0xFF] ^ crc32c_table[0][x >> 56];
    }
    for (; n > 0; at++, n--)
        crc = crc32c_table[0][(crc ^ *at) & 0xFF] ^ crc >> 8;
    return ~crc;
}
