import { expect, it } from 'vitest'
import type { Table } from '../../../adapters/stores/postgres/layout/columns.ts'
import { portError } from '../../../adapters/stores/postgres/layout/errors.ts'

const tree = {
  sql: '"public"."tree"',
  columns: ['_id', 'code', 'up'].map((field) => ({ field, name: field })),
} as unknown as Table

it.each([
  [
    'update or delete on table "tree" violates foreign key constraint "tree_up_fkey" on table "tree"',
    'Key (code)=(a) is still referenced from table "tree".',
    { rule: 'referenced' },
  ],
  [
    'Aktualisieren oder Löschen in Tabelle »tree« verletzt Fremdschlüssel-Constraint »tree_up_fkey« von Tabelle »tree«',
    'Auf Schlüssel (code)=(a) wird noch aus Tabelle »tree« verwiesen.',
    { rule: 'referenced' },
  ],
  [
    'UPDATE ou DELETE sur la table « tree » viole la contrainte de clé étrangère « tree_up_fkey » de la table « tree »',
    'La clé (code)=(a) est toujours référencée à partir de la table « tree ».',
    { rule: 'referenced' },
  ],
  [
    'Einfügen oder Aktualisieren in Tabelle »tree« verletzt Fremdschlüssel-Constraint »tree_up_fkey«',
    'Schlüssel (up)=(x) ist nicht in Tabelle »tree« vorhanden.',
    { rule: 'reference', fields: ['up'] },
  ],
])(
  'tells by a message in any language which end of a reference refuses: %s',
  (message, detail, expected) => {
    const told = { code: '23503', table_name: 'tree', detail, query: 'UPDATE "public"."tree" …' }
    expect(portError(Object.assign(new Error(message), told), tree)).toMatchObject(expected)
  },
)
