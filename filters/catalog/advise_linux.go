package catalog

import "syscall"

// adviseRandom tells the system that lookups jump: to read ahead of them fetches a
// hundred KiB and more for a key, and made the first lookups in a file of 32 GiB a
// thousand times slower. An error says that nothing is lost.
func adviseRandom(mapped []byte) { _ = syscall.Madvise(mapped, syscall.MADV_RANDOM) }

// adviseSequential tells that all is about to be read in order.
func adviseSequential(mapped []byte) { _ = syscall.Madvise(mapped, syscall.MADV_SEQUENTIAL) }
