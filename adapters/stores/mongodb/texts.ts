/**
 * Documents as the JSON that reads return.
 *
 * @module
 */

import { BSON } from 'mongodb'
import { onlyDeclared, withDefaults } from '../../../src/ports/declared.ts'
import { project } from '../../../src/ports/projection.ts'
import type { CollectionSchema, Fields, Projection, Read } from '../../../src/ports/store.ts'
import type { Bson } from './bson.ts'
import { JsonWriter } from './bson-json.ts'
import { fromDocument, hiddenMembers, textOf } from './documents.ts'
import { holdsStored } from './stored.ts'

/** What of a read decides the JSON of a document. */
type Shown = Pick<Read, 'select' | 'fillDefaults'>

/** Writes the document whose BSON begins at a position. */
export type Text = (bson: Bson, at: number) => string

/** Writes documents for reads of `schema`: what the model declares of them, and the defaults that they lack. */
export function textsOf({ shape, declared }: CollectionSchema): (shown: Shown) => Text {
  const hidden = hiddenMembers(shape)
  // The writer knows what is declared, but not as which type.
  const writers = declared &&
    !holdsStored(shape) && {
      plain: new JsonWriter(declared, hidden, false),
      filled: new JsonWriter(declared, hidden, true),
    }

  /** What the writer leaves to others. */
  const slowly = ({ bytes, view }: Bson, at: number, { select, fillDefaults }: Shown): string => {
    const document = BSON.deserialize(bytes.subarray(at, at + view.getInt32(at, true)))
    const fields = fromDocument(document, shape)
    const record = hasPaths(select) ? project(fields, select) : fields
    if (!declared) return textOf(record)
    const shown = onlyDeclared(declared, record)
    const whole = fillDefaults ? withDefaults(declared, shown) : shown
    return textOf(whole === shown ? (shown as Fields) : project(whole as Fields, select))
  }

  return (shown) => {
    const { select, fillDefaults } = shown
    const kind = fillDefaults ? 'filled' : 'plain'
    const writer = hasPaths(select) || !writers ? undefined : writers[kind]
    return (bson, at) => writer?.document(bson, at) ?? slowly(bson, at, shown)
  }
}

/** Whether a read selects something inside a field. */
export function hasPaths(select: Projection | undefined): boolean {
  const paths = select ? ('exclude' in select ? select.exclude : select.include) : []
  return paths.some((path) => path.includes('.'))
}

/** The id in the JSON of a record, which begins with it. */
export function idIn(text: string): string {
  const [, literal = '""'] = ID.exec(text) ?? []
  return JSON.parse(literal)
}

const ID = /^\{"_id":("(?:[^"\\]|\\.)*")/
