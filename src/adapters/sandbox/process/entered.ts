/** Where the processes that entered an instance from its host are named, for its supervisor to count. */
export const enteredFolder = "entered";
