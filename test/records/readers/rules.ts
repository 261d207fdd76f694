/**
 * What the readers of notes may see, by an independent reading of their rules.
 *
 * @module
 */

import type { Fields } from '../../../src/index.ts'
import { isSameContent } from '../../../src/ports/evaluation/evaluate.ts'
import type { LoggedChange } from '../../../src/ports/store/changes.ts'
import type { Account, Reader, ReadingDoor } from './doors.ts'

/** A note as it was at some time. */
export type State = Fields | null | undefined

/** The marks in a text, also in what is encoded in it, such as a cursor: each value of a note has one of its own. */
export function marksIn(text: string): string[] {
  const encoded = (text.match(/[\w-]{16,}/g) ?? []).map((one) =>
    Buffer.from(one, 'base64url').toString('latin1'),
  )
  return [...new Set([text, ...encoded].flatMap((one) => one.match(/~\d+~/g) ?? []))].sort()
}

/** The same text for the same fields. */
export const flat = (fields: Fields): string => JSON.stringify(Object.entries(fields).sort())

/** What was written, and who may see what of it. */
export class Rules {
  readonly log: LoggedChange[] = []
  readonly notes = new Map<string, Fields>()

  /** Takes note of changes. */
  took(changes: readonly LoggedChange[]): void {
    this.log.push(...changes)
    for (const { before, after } of changes) {
      if (after) this.notes.set(String(after._id), after)
      else this.notes.delete(String(before?._id))
    }
  }

  sees({ rights, id }: Account, state: State): state is Fields {
    return !!state && (rights.team ? state.team === rights.team : state.owner === id)
  }

  /** The fields that are shown of a state. */
  shown(account: Account, state: State): Fields {
    if (!this.sees(account, state)) return {}
    const { _id, title, salary, team } = state
    const { isWhole } = account.rights
    const all = { _id, title, ...(isWhole && { salary, owner: state.owner }), team }
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  }

  marks(account: Account, states: readonly State[]): string[] {
    return marksIn(JSON.stringify(states.map((one) => this.shown(account, one))))
  }

  may({ account, actions }: Reader, action: string): boolean {
    return !account.rights.banned && (actions?.includes(action) ?? true)
  }

  /** The marks that a door must show. */
  expected({ account }: Reader, { shows }: ReadingDoor, id: string, text: string): string[] {
    const all = [...this.notes.values()]
    const { isWhole } = account.rights
    const seen = all.filter((one) => this.sees(account, one))
    if (shows === 'list') return this.marks(account, all)
    if (shows === 'one') return this.marks(account, [this.notes.get(id)])
    if (shows === 'titles') return marksIn(JSON.stringify(seen.map(({ title }) => title)))
    if (shows === 'salaries')
      return isWhole ? marksIn(JSON.stringify(seen.map(({ salary }) => salary))) : []
    // The router of what refers to them decides which fields it fills in.
    if (shows === 'references')
      return marksIn(JSON.stringify(seen.map(({ title, salary }) => [title, salary])))
    if (shows === 'found') {
      return this.marks(
        account,
        all.filter(({ title, salary }) => title === text || (isWhole && salary === text)),
      )
    }
    return this.historyOf(account, id)
  }

  changesOf(id: string): LoggedChange[] {
    return this.log.filter(({ before, after }) => (after ?? before)?._id === id)
  }

  historyOf(account: Account, id: string): string[] {
    const changes = this.changesOf(id)
    if (!this.sees(account, this.notes.get(id) ?? changes.at(-1)?.before)) return []
    const told = changes.flatMap(({ before, after }) => {
      const [from, to] = [this.shown(account, before), this.shown(account, after)]
      return Object.keys({ ...from, ...to }).flatMap((name) =>
        isSameContent(from[name] ?? null, to[name] ?? null) ? [] : [from[name], to[name]],
      )
    })
    return marksIn(JSON.stringify(told))
  }
}
