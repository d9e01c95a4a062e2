/* Stands for a shell of Windows, of which Wine has none that works: a command line with `sleep` in it goes on until it is ended, in a
   process below this one; every other ends at once. In the folder that SHELL_AT_WORK names it leaves the file `began`, and beside it
   keeps one that goes with the process, however that ends. */
#include <stdio.h>
#include <string.h>
#include <windows.h>

static int work(void) {
    char folder[MAX_PATH], name[MAX_PATH + 32];
    if (!GetEnvironmentVariableA("SHELL_AT_WORK", folder, sizeof folder)) return 1;
    snprintf(name, sizeof name, "%s\\%lu", folder, GetCurrentProcessId());
    CreateFileA(name, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, CREATE_ALWAYS, FILE_FLAG_DELETE_ON_CLOSE, NULL);
    snprintf(name, sizeof name, "%s\\began", folder);
    CreateFileA(name, GENERIC_WRITE, FILE_SHARE_READ, NULL, CREATE_ALWAYS, 0, NULL);
    Sleep(INFINITE);
    return 0;
}

int main(int count, char **words) {
    char own[MAX_PATH], line[MAX_PATH + 32];
    int sleeps = 0;
    if (count == 2 && !strcmp(words[1], "--work")) return work();
    for (int at = 1; at < count; at++) sleeps |= strstr(words[at], "sleep ") != NULL;
    if (!sleeps) return 0;
    STARTUPINFOA start = {.cb = sizeof start};
    PROCESS_INFORMATION child;
    GetModuleFileNameA(NULL, own, sizeof own);
    snprintf(line, sizeof line, "\"%s\" --work", own);
    if (!CreateProcessA(own, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &child)) return 1;
    WaitForSingleObject(child.hProcess, INFINITE);
    return 0;
}
