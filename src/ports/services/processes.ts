/**
 * What the processes of `serve(app, { processes })` ask each other. The workers serve requests and ask; the first
 * process answers. Without the option there is one process, and nothing is asked.
 */

/** Questions of one kind, with their answers. Both travel as JSON. */
export interface Topic<Question, Answer> {
  /** Asks the first process, from a worker. Rejects if it fails to answer. */
  ask(question: Question): Promise<Answer>
  /** From now on, this process answers workers with `reply`, whose errors are the questions' rejections. */
  answer(reply: (question: Question) => Answer | Promise<Answer>): void
}
