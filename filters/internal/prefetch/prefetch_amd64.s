//go:build !purego

#include "textflag.h"

// func fetch(words, idx *uint64, n int)
TEXT ·fetch(SB), NOSPLIT, $0-24
	MOVQ words+0(FP), AX         // AX = the table
	MOVQ idx+8(FP), BX           // BX = the next index
	MOVQ n+16(FP), CX            // CX = indices left
	SUBQ $4, CX                  // four at a time
	JLT  rest

four:
	MOVQ 0(BX), R8
	MOVQ 8(BX), R9
	MOVQ 16(BX), R10
	MOVQ 24(BX), R11
	PREFETCHT0 (AX)(R8*8)        // all levels, for reading
	PREFETCHT0 (AX)(R9*8)
	PREFETCHT0 (AX)(R10*8)
	PREFETCHT0 (AX)(R11*8)
	ADDQ $32, BX
	SUBQ $4, CX
	JGE  four

rest:
	ADDQ $4, CX                  // 0 to 3 are left
	JZ   done

one:
	MOVQ (BX), R8
	PREFETCHT0 (AX)(R8*8)
	ADDQ $8, BX
	DECQ CX
	JNZ  one

done:
	RET
