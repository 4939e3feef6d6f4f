/* Wine 8 lacks this library of Windows, from which Rust's standard library takes random bytes. For the test of the program for Windows alone. */
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count) { return RtlGenRandom(bytes, (ULONG)count); }
