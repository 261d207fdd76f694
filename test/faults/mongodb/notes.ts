/**
 * The collection that the fault tests write to.
 *
 * @module
 */

import type { CollectionSchema } from '../../../src/ports/store/store.ts'

/** Records of an id and a number. */
export const notes: CollectionSchema = {
  name: 'notes',
  idType: 'uuid',
  shape: {
    kind: 'object',
    fields: new Map([
      ['_id', { kind: 'id', idType: 'uuid' }],
      ['n', { kind: 'number' }],
    ]),
  },
  unique: [],
  indexes: [[{ field: 'n', descending: false }]],
  searchable: [],
}
