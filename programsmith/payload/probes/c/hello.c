/* Says hello: proves that a program builds and runs. */
#include <stdio.h>

int main(void)
{
    puts("hello from the run stage");
    return 0;
}
