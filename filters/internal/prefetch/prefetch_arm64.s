//go:build !purego

#include "textflag.h"

// func fetch(words, idx *uint64, n int)
TEXT ·fetch(SB), NOSPLIT, $0-24
	MOVD words+0(FP), R0         // R0 = the table
	MOVD idx+8(FP), R1           // R1 = the next index
	MOVD n+16(FP), R2            // R2 = indices left, at least 1

one:
	MOVD.P 8(R1), R3             // R3 = index; R1 moves on
	ADD  R3<<3, R0, R4           // R4 = address of the word
	PRFM (R4), PLDL1KEEP         // first level, for reading, to stay
	SUBS $1, R2, R2
	BNE  one
	RET
