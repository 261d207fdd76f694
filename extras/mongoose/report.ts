/** What of a Mongoose schema a model cannot say. */

/** Something that is not carried over, or only in part. */
export interface ReportRow {
  /** The dotted path in the schema, `''` for the schema as a whole. Lists and maps have no name of their own in it. */
  readonly path: string
  /** Mongoose's word for it: an option of a path, `virtual`, `pre('save')` and the like. */
  readonly feature: string
  /** What becomes of it, and what to use instead. */
  readonly note: string
  /**
   * Whether records would be shown, changed or stored that Mongoose would hide, refuse or alter: see to it before anyone
   * else sends a request.
   */
  readonly serious: boolean
}

/** Collects the rows of a report, each once. */
export class Report {
  readonly #rows = new Map<string, ReportRow>()

  add(path: string, feature: string, note: string, serious = false): void {
    this.#rows.set(JSON.stringify([path, feature, note]), { path, feature, note, serious })
  }

  /** The rows, by path. */
  rows(): readonly ReportRow[] {
    const key = ({ path, feature }: ReportRow) => `${path}\0${feature}`
    return [...this.#rows.values()].sort((a, b) => (key(a) < key(b) ? -1 : 1))
  }
}
