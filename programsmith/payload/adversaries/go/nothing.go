// Does nothing and ends well.
package main

func main() {}
