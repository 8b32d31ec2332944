//go:build linux

package process

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// setClock makes time.Now of this process lead by some time: the first instructions of the function become a jump to another one.
// The store's clock stays right: that of SQLite does not ask Go.
func setClock(off time.Duration) error {
	began := time.Now() // with a reading of the monotonic clock, so that Since does not come back here
	now := func() time.Time { return began.Round(0).Add(off + time.Since(began)) }
	old := time.Now
	code, to := **(**unsafe.Pointer)(unsafe.Pointer(&old)), *(*uint64)(unsafe.Pointer(&now))
	keep.Store(&now)
	jump := []byte{0x48, 0xba, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0x22} // MOVQ $to, DX; JMP (DX)
	for i := range 8 {
		jump[2+i] = byte(to >> (8 * i))
	}
	size := uintptr(syscall.Getpagesize())
	pages := unsafe.Slice((*byte)(unsafe.Add(code, -int(uintptr(code)%size))), 2*size)
	if err := syscall.Mprotect(pages, syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC); err != nil {
		return err
	}
	copy(unsafe.Slice((*byte)(code), len(jump)), jump)
	return syscall.Mprotect(pages, syscall.PROT_READ|syscall.PROT_EXEC)
}

// keep keeps the function from the garbage collector, which does not see it in the instructions.
var keep atomic.Pointer[func() time.Time]
