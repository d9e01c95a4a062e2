/* The one function of bcryptprimitives.dll that Rust programs call, for Wine 8, which has no such library: they end without a word. */
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE room, SIZE_T left) {
    while (left) {
        ULONG piece = left > 0x10000000 ? 0x10000000 : (ULONG)left;
        if (!SystemFunction036(room, piece)) return FALSE;
        room += piece;
        left -= piece;
    }
    return TRUE;
}
BOOL WINAPI DllMain(HINSTANCE library, DWORD reason, LPVOID reserved) { return TRUE; }
