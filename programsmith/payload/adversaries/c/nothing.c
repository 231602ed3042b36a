/* Does nothing and ends well. */
int main(void)
{
    return 0;
}
