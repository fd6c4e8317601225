//go:build !purego

#include "textflag.h"

// func readPlain(words, hs *uint64, n int, lines uint64) (sum uint64)
TEXT ·readPlain(SB), NOSPLIT, $0-40
	MOVQ words+0(FP), R8         // R8 = the table
	MOVQ hs+8(FP), SI            // SI = the next hash
	MOVQ n+16(FP), CX            // CX = hashes left
	MOVQ lines+24(FP), R9        // R9 = lines of the table
	XORQ R10, R10                // R10 = the sum

plain:
	MOVQ (SI), AX
	MULQ R9                      // DX = the line of the hash
	SHLQ $6, DX
	ADDQ (R8)(DX*1), R10
	ADDQ $8, SI
	DECQ CX
	JNZ  plain
	MOVQ R10, sum+32(FP)
	RET

// func readAhead(words, hs *uint64, n int, lines uint64) (sum uint64)
TEXT ·readAhead(SB), NOSPLIT, $0-40
	MOVQ words+0(FP), R8
	MOVQ hs+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ lines+24(FP), R9
	XORQ R10, R10

next:
	MOVQ (48*8)(SI), AX          // the hash whose turn comes in 48 places
	MULQ R9
	SHLQ $6, DX
	PREFETCHT1 (R8)(DX*1)        // into the second cache, as the kernels do
	MOVQ (SI), AX
	MULQ R9
	SHLQ $6, DX
	ADDQ (R8)(DX*1), R10
	ADDQ $8, SI
	DECQ CX
	JNZ  next
	MOVQ R10, sum+32(FP)
	RET
