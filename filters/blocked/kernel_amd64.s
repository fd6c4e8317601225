//go:build !purego

#include "textflag.h"

// Four keys at a time. Registers that all kernels share:
//
//	DI  dst            SI  hs, the next hash       CX  keys left
//	DX  words          AX  true answers            R8-R11  byte offsets of four blocks
//
// Y15 holds the number of blocks in each 64-bit lane, Y14 the salts, Y13 ones.

// The multipliers of the file format.
DATA salts<>+0(SB)/4, $0x47b6137b
DATA salts<>+4(SB)/4, $0x44974d91
DATA salts<>+8(SB)/4, $0x8824ad5b
DATA salts<>+12(SB)/4, $0xa2b7289d
DATA salts<>+16(SB)/4, $0x705495c7
DATA salts<>+20(SB)/4, $0x2df1424b
DATA salts<>+24(SB)/4, $0x9efc4947
DATA salts<>+28(SB)/4, $0x5c6bfb31
GLOBL salts<>(SB), RODATA|NOPTR, $32

// The constants of the split layout.
#define SPLIT_CONSTANTS \
	VMOVDQU      salts<>(SB), Y14   \
	VPCMPEQD     Y13, Y13, Y13      \ // all bits
	VPSRLD       $31, Y13, Y13        // ones

// R8 to R11 = where the blocks of the four keys at SI+off begin, by the fast
// range of the high halves. Vectors find all four at once; the way to the
// address registers leads over the stack.
#define SPLIT_LOCATE(off) \
	VMOVDQU  off(SI), Y0            \
	VPSRLQ   $32, Y0, Y0            \ // the high half
	VPMULUDQ Y15, Y0, Y0            \ // times blocks
	VPSRLQ   $32, Y0, Y0            \ // the number of the block
	VPSLLQ   $5, Y0, Y0             \ // times 32 bytes
	VMOVDQU  Y0, at-32(SP)          \
	MOVQ     at-32(SP), R8          \
	MOVQ     at-24(SP), R9          \
	MOVQ     at-16(SP), R10         \
	MOVQ     at-8(SP), R11

// Start loading the blocks at R8 to R11, into the second cache: the first has few
// places for lines under way, and a load that hits the second is hidden (at 13 MB
// 7.9 ns a lookup, 9.7 with PREFETCHT0; at 1.3 MB no difference).
#define PREFETCH \
	PREFETCHT1 (DX)(R8*1)  \
	PREFETCHT1 (DX)(R9*1)  \
	PREFETCHT1 (DX)(R10*1) \
	PREFETCHT1 (DX)(R11*1)

// m = the eight bits of key i: the top five bits of its low half times each
// salt say which bit of the lane.
#define SPLIT_MASK(i, m) \
	VPBROADCASTD (i*8)(SI), m \
	VPMULLD      Y14, m, m    \
	VPSRLD       $27, m, m    \
	VPSLLVD      m, Y13, m

// dst[i] = whether the block at r has all bits of key i. VPTEST carries if no bit
// of its first operand is missing in the second.
#define SPLIT_TEST(i, r, m, b) \
	SPLIT_MASK(i, m)        \
	VMOVDQU (DX)(r*1), b    \
	VPTEST  m, b            \
	SETCS   i(DI)           \
	ADCQ    $0, AX

#define SPLIT_TEST4 \
	SPLIT_TEST(0, R8, Y1, Y2)  \
	SPLIT_TEST(1, R9, Y3, Y4)  \
	SPLIT_TEST(2, R10, Y5, Y6) \
	SPLIT_TEST(3, R11, Y7, Y8)

// The bits of key i go into the block at r. Blocks may be the same: each is
// stored before the next is loaded.
#define SPLIT_SET(i, r, m) \
	SPLIT_MASK(i, m)       \
	VPOR    (DX)(r*1), m, m \
	VMOVDQU m, (DX)(r*1)

#define SPLIT_SET4 \
	SPLIT_SET(0, R8, Y1)  \
	SPLIT_SET(1, R9, Y2)  \
	SPLIT_SET(2, R10, Y3) \
	SPLIT_SET(3, R11, Y4)

// func splitTest(dst *bool, hs *uint64, n int, words *uint64, blocks uint64) (hits int)
TEXT ·splitTest(SB), NOSPLIT, $32-48
	MOVQ dst+0(FP), DI
	MOVQ hs+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ words+24(FP), DX
	XORL AX, AX
	VPBROADCASTQ blocks+32(FP), Y15
	SPLIT_CONSTANTS

four:
	SPLIT_LOCATE(0)
	SPLIT_TEST4
	ADDQ $32, SI
	ADDQ $4, DI
	SUBQ $4, CX
	JNZ  four
	VZEROUPPER
	MOVQ AX, hits+40(FP)
	RET

// func splitTestAhead(dst *bool, hs *uint64, n int, words *uint64, blocks uint64) (hits int)
TEXT ·splitTestAhead(SB), NOSPLIT, $32-48
	MOVQ dst+0(FP), DI
	MOVQ hs+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ words+24(FP), DX
	XORL AX, AX
	VPBROADCASTQ blocks+32(FP), Y15
	SPLIT_CONSTANTS

four:
	SPLIT_LOCATE(384)            // 48 keys ahead, as in Go
	PREFETCH
	SPLIT_LOCATE(0)
	SPLIT_TEST4
	ADDQ $32, SI
	ADDQ $4, DI
	SUBQ $4, CX
	JNZ  four
	VZEROUPPER
	MOVQ AX, hits+40(FP)
	RET

// func splitSet(hs *uint64, n int, words *uint64, blocks uint64)
TEXT ·splitSet(SB), NOSPLIT, $32-32
	MOVQ hs+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ words+16(FP), DX
	VPBROADCASTQ blocks+24(FP), Y15
	SPLIT_CONSTANTS

four:
	SPLIT_LOCATE(0)
	SPLIT_SET4
	ADDQ $32, SI
	SUBQ $4, CX
	JNZ  four
	VZEROUPPER
	RET

// func splitSetAhead(hs *uint64, n int, words *uint64, blocks uint64)
TEXT ·splitSetAhead(SB), NOSPLIT, $32-32
	MOVQ hs+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ words+16(FP), DX
	VPBROADCASTQ blocks+24(FP), Y15
	SPLIT_CONSTANTS

four:
	SPLIT_LOCATE(384)
	PREFETCH
	SPLIT_LOCATE(0)
	SPLIT_SET4
	ADDQ $32, SI
	SUBQ $4, CX
	JNZ  four
	VZEROUPPER
	RET

// The plain layout, 512 bits, up to 7 independent probes of 9 bits from one mix:
// the place of a field's 32-bit word is its upper 4 bits, the place in the word
// its lower 5. Y15 holds the shifts, Y14 a one for each probe, Y13 31s; BX is the
// number of blocks, R13 the multiplier of the mix.

// The fields of a 64-bit lane begin at bits 0, 18, 36 and 54.
DATA fields<>+0(SB)/8, $0
DATA fields<>+8(SB)/8, $18
DATA fields<>+16(SB)/8, $36
DATA fields<>+24(SB)/8, $54
GLOBL fields<>(SB), RODATA|NOPTR, $32

// Eight ones and eight zeros: eight words from place 8-k have k ones.
DATA probes<>+0(SB)/8, $0x0000000100000001
DATA probes<>+8(SB)/8, $0x0000000100000001
DATA probes<>+16(SB)/8, $0x0000000100000001
DATA probes<>+24(SB)/8, $0x0000000100000001
DATA probes<>+32(SB)/8, $0
DATA probes<>+40(SB)/8, $0
DATA probes<>+48(SB)/8, $0
DATA probes<>+56(SB)/8, $0
GLOBL probes<>(SB), RODATA|NOPTR, $64

#define LINE_CONSTANTS \
	MOVQ     k+40(FP), R9         \
	NEGQ     R9                   \
	LEAQ     probes<>+32(SB), R10 \
	VMOVDQU  (R10)(R9*4), Y14     \
	VMOVDQU  fields<>(SB), Y15    \
	VPCMPEQD Y13, Y13, Y13        \
	VPSRLD   $27, Y13, Y13        \ // 31 in each lane
	MOVQ     blocks+32(FP), BX    \
	MOVQ     $0x9e3779b97f4a7c15, R13

// r = where the block of key i, counted from off, begins: the fast range of the
// hash. It leaves the hash in DX.
#define LINE_LOCATE(off, i, r) \
	MOVQ  (off+i*8)(SI), DX \
	MULXQ BX, R9, r         \ // the high half of the product
	SHLQ  $6, r               // times 64 bytes

// dst[i] = whether all probes of key i hit.
#define LINE_TEST(i) \
	LINE_LOCATE(0, i, R8)            \
	MULXQ        R13, R9, R10        \ // the mix: both halves of a product
	XORQ         R9, R10             \
	VMOVQ        R10, X0             \
	VPBROADCASTQ X0, Y0              \
	VPSRLVQ      Y15, Y0, Y0         \ // a 64-bit lane begins with an even field
	VPSLLQ       $23, Y0, Y1         \ // and moves the odd one after it
	VPBLENDD     $0xaa, Y1, Y0, Y0   \ // to the start of its upper half
	VPSRLD       $5, Y0, Y1          \ // the place of the word, modulo 8 for VPERMD
	VPERMD       (R12)(R8*1), Y1, Y2 \ // the words if it is in the first half
	VPERMD       32(R12)(R8*1), Y1, Y3 \ // and in the second,
	VPSLLD       $23, Y0, Y4         \ // which bit 8 tells, for a sign
	VBLENDVPS    Y4, Y3, Y2, Y2      \
	VPAND        Y13, Y0, Y0         \ // the place in the word
	VPSRLVD      Y0, Y2, Y2          \ // the bit asked for comes first
	VPTEST       Y14, Y2             \ // carry if none of the k is missing
	SETCS        i(DI)               \
	ADCQ         $0, AX

// func lineTest(dst *bool, hs *uint64, n int, words *uint64, blocks uint64, k int) (hits int)
TEXT ·lineTest(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ hs+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ words+24(FP), R12
	XORL AX, AX
	LINE_CONSTANTS

four:
	LINE_TEST(0)
	LINE_TEST(1)
	LINE_TEST(2)
	LINE_TEST(3)
	ADDQ $32, SI
	ADDQ $4, DI
	SUBQ $4, CX
	JNZ  four
	VZEROUPPER
	MOVQ AX, hits+48(FP)
	RET

// func lineTestAhead(dst *bool, hs *uint64, n int, words *uint64, blocks uint64, k int) (hits int)
TEXT ·lineTestAhead(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ hs+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ words+24(FP), R12
	XORL AX, AX
	LINE_CONSTANTS

four:
	LINE_LOCATE(384, 0, R8)      // 48 keys ahead, as in Go
	PREFETCHT1 (R12)(R8*1)
	LINE_LOCATE(384, 1, R8)
	PREFETCHT1 (R12)(R8*1)
	LINE_LOCATE(384, 2, R8)
	PREFETCHT1 (R12)(R8*1)
	LINE_LOCATE(384, 3, R8)
	PREFETCHT1 (R12)(R8*1)
	LINE_TEST(0)
	LINE_TEST(1)
	LINE_TEST(2)
	LINE_TEST(3)
	ADDQ $32, SI
	ADDQ $4, DI
	SUBQ $4, CX
	JNZ  four
	VZEROUPPER
	MOVQ AX, hits+48(FP)
	RET

// To add to the plain layout, all bits of a key are gathered in two vectors, one
// for each half of its line. A shift by a place that lies outside a 32-bit word,
// before it or after it, gives zero in AVX2: the place of a probe, less where each
// word begins, shifts a one into the one word it belongs to and out of all others.
// Y12 holds 511 in each lane, Y13 ones, Y11 and Y10 where the words of the two
// halves begin; R11 is k. In cache that is no faster than Go (6.7 ns a key at k = 6),
// but it fetches ahead as it goes: 8 instead of 13 ns at 13 MB.

// The first bits of eight words, and of the next eight.
DATA starts<>+0(SB)/4, $0
DATA starts<>+4(SB)/4, $32
DATA starts<>+8(SB)/4, $64
DATA starts<>+12(SB)/4, $96
DATA starts<>+16(SB)/4, $128
DATA starts<>+20(SB)/4, $160
DATA starts<>+24(SB)/4, $192
DATA starts<>+28(SB)/4, $224
DATA starts<>+32(SB)/4, $256
DATA starts<>+36(SB)/4, $288
DATA starts<>+40(SB)/4, $320
DATA starts<>+44(SB)/4, $352
DATA starts<>+48(SB)/4, $384
DATA starts<>+52(SB)/4, $416
DATA starts<>+56(SB)/4, $448
DATA starts<>+60(SB)/4, $480
GLOBL starts<>(SB), RODATA|NOPTR, $64

#define LINE_SET_CONSTANTS \
	VMOVDQU  fields<>(SB), Y15    \
	VPCMPEQD Y14, Y14, Y14        \ // all bits
	VPSRLD   $31, Y14, Y13        \ // ones
	VPSRLD   $23, Y14, Y12        \ // 511 in each lane
	VMOVDQU  starts<>+0(SB), Y11  \
	VMOVDQU  starts<>+32(SB), Y10 \
	MOVQ     $0x9e3779b97f4a7c15, R13

// Y1 and Y2 = the line at R8, Y9 = the fields of the hash in DX, which go over the
// stack to be spread one by one.
#define LINE_FIELDS \
	MULXQ        R13, R9, R10         \ // the mix: both halves of a product
	XORQ         R9, R10              \
	VMOVQ        R10, X0              \
	VPBROADCASTQ X0, Y0               \
	VPSRLVQ      Y15, Y0, Y0          \ // as in LINE_TEST
	VPSLLQ       $23, Y0, Y9          \
	VPBLENDD     $0xaa, Y9, Y0, Y9    \
	VPAND        Y12, Y9, Y9          \ // 9 bits each
	VMOVDQU      Y9, at-32(SP)        \
	VMOVDQU      (R12)(R8*1), Y1      \
	VMOVDQU      32(R12)(R8*1), Y2

// The bit of the probe in the field at from.
#define LINE_BIT(from) \
	VPBROADCASTD from, Y3      \
	VPSUBD       Y11, Y3, Y4   \ // the place less where each word begins
	VPSUBD       Y10, Y3, Y5   \
	VPSLLVD      Y4, Y13, Y4   \ // a one in its word, zero elsewhere
	VPSLLVD      Y5, Y13, Y5   \
	VPOR         Y4, Y1, Y1    \
	VPOR         Y5, Y2, Y2

// func lineSet(hs *uint64, n int, words *uint64, blocks uint64, k int)
TEXT ·lineSet(SB), NOSPLIT, $32-40
	MOVQ hs+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ words+16(FP), R12
	MOVQ blocks+24(FP), BX
	MOVQ k+32(FP), R11
	LINE_SET_CONSTANTS

key:
	LINE_LOCATE(0, 0, R8)
	LINE_FIELDS
	LINE_BIT(at-32(SP))
	CMPQ R11, $2                 // the same for every key, so well predicted
	JLT  store
	LINE_BIT(at-28(SP))
	CMPQ R11, $3
	JLT  store
	LINE_BIT(at-24(SP))
	CMPQ R11, $4
	JLT  store
	LINE_BIT(at-20(SP))
	CMPQ R11, $5
	JLT  store
	LINE_BIT(at-16(SP))
	CMPQ R11, $6
	JLT  store
	LINE_BIT(at-12(SP))
	CMPQ R11, $7
	JLT  store
	LINE_BIT(at-8(SP))

store:
	VMOVDQU Y1, (R12)(R8*1)
	VMOVDQU Y2, 32(R12)(R8*1)
	ADDQ $8, SI
	DECQ CX
	JNZ  key
	VZEROUPPER
	RET

// func lineSetAhead(hs *uint64, n int, words *uint64, blocks uint64, k int)
TEXT ·lineSetAhead(SB), NOSPLIT, $32-40
	MOVQ hs+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ words+16(FP), R12
	MOVQ blocks+24(FP), BX
	MOVQ k+32(FP), R11
	LINE_SET_CONSTANTS

key:
	LINE_LOCATE(384, 0, R8)      // 48 keys ahead, as in Go
	PREFETCHT1 (R12)(R8*1)
	LINE_LOCATE(0, 0, R8)
	LINE_FIELDS
	LINE_BIT(at-32(SP))
	CMPQ R11, $2
	JLT  store
	LINE_BIT(at-28(SP))
	CMPQ R11, $3
	JLT  store
	LINE_BIT(at-24(SP))
	CMPQ R11, $4
	JLT  store
	LINE_BIT(at-20(SP))
	CMPQ R11, $5
	JLT  store
	LINE_BIT(at-16(SP))
	CMPQ R11, $6
	JLT  store
	LINE_BIT(at-12(SP))
	CMPQ R11, $7
	JLT  store
	LINE_BIT(at-8(SP))

store:
	VMOVDQU Y1, (R12)(R8*1)
	VMOVDQU Y2, 32(R12)(R8*1)
	ADDQ $8, SI
	DECQ CX
	JNZ  key
	VZEROUPPER
	RET
