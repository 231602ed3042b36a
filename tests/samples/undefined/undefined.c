/* Does what its first argument names: each but the last two shows what C leaves undefined. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int table[4] = {1, 2, 3, 4}, after[4] = {5, 6, 7, 8};

static int first_of(int count)
{
    int all[8];
    for (int i = 0; i < count; i++)
        all[i] = i;
    return all[3];
}

static void shows_heap(void)
{
    char *text = malloc(4000);
    printf("%d\n", text[2000]);
    free(text);
}

static void shows_freed(void)
{
    char *text = malloc(16);
    strcpy(text, "kept until now");
    free(text);
    printf("%c\n", text[9]);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    int number = argc > 2 ? atoi(argv[2]) : 0;
    if (!strcmp(word, "stack"))
        printf("%d\n", first_of(number));
    else if (!strcmp(word, "heap"))
        shows_heap();
    else if (!strcmp(word, "freed"))
        shows_freed();
    else if (!strcmp(word, "overflow"))
        printf("%d\n", number + 1);
    else if (!strcmp(word, "bound"))
        printf("%d\n", table[number]);
    else if (!strcmp(word, "leak"))
        printf("%d\n", malloc(100) != NULL);
    else if (!strcmp(word, "plain"))
        printf("%d\n", number * 2 + after[1]);
    return 0;
}
