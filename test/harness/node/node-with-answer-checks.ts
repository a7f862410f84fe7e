/** Loaded by a node of its own before anything else: what does not fit its schema is answered 500 there. */
import { checkAnswers } from "./answers.ts";

checkAnswers();
