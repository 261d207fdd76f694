/** The times that the server keeps with a record, and the fields that hold them. */

/** The fields that hold the time of a record's creation and of its last change. None for a time that is not kept. */
export interface Timestamps {
  readonly createdAt?: string
  readonly updatedAt?: string
}

/** What a definition says of timestamps: whether they are kept, or the name of each; false leaves one out. */
export type TimestampNames =
  | boolean
  | { readonly createdAt?: string | boolean; readonly updatedAt?: string | boolean }

/** The fields that a definition names. */
export function timestampsOf(names: TimestampNames = false): Timestamps {
  const { createdAt = true, updatedAt = true } =
    typeof names === 'object' ? names : { createdAt: names, updatedAt: names }
  return { ...named('createdAt', createdAt), ...named('updatedAt', updatedAt) }
}

function named(time: keyof Timestamps, name: string | boolean): Timestamps {
  return name === false ? {} : { [time]: name === true ? time : name }
}

/** The names of the fields. */
export function timestampFields(timestamps: Timestamps): readonly string[] {
  return Object.values(timestamps)
}
