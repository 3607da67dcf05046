// A reviewer that never ends, for .ci/windows: it and its child process write a sign into a file again and again.
#include <process.h>
#include <stdio.h>
#include <windows.h>

int main(int argc, char **argv) {
  int is_child = argc == 2;
  if (!is_child) _spawnlp(_P_NOWAIT, argv[0], argv[0], "child", NULL);
  for (;; Sleep(100)) {
    FILE *signs = fopen(is_child ? "child" : "leader", "a");
    fputc('.', signs);
    fclose(signs);
  }
}
