/** Work that is done whenever there may be some. */

/** Does a round whenever it is rung, one at a time: however often it is rung during one, one more follows. */
export abstract class Rounds {
  #isUnderWay = false
  #isRung = false

  /** Does what there is to do; must not reject. */
  protected abstract round(): Promise<void>

  /** There may be something to do. */
  protected ring(): void {
    this.#isRung = true
    if (!this.#isUnderWay) void this.#goRound()
  }

  async #goRound(): Promise<void> {
    this.#isUnderWay = true
    while (this.#isRung) {
      this.#isRung = false
      await this.round()
    }
    this.#isUnderWay = false
  }
}
