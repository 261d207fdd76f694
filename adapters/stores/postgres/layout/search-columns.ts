/**
 * Literal search that ignores case: a generated column with the folded value, for each searchable path.
 *
 * @module
 */

import { fold } from '../../../../src/ports/fold.ts'
import type { CollectionSchema } from '../../../../src/ports/store.ts'
import { type Column, FOLD, SEARCH_PREFIX } from './columns.ts'
import { type Collected, columnOf, json, placeAt } from './operands.ts'
import { identifier, shortName } from './sql.ts'

/** The column that a searchable path is searched in. */
export interface SearchColumn {
  readonly path: string
  readonly name: string
  readonly sql: string
  /** Its value, from the record's columns. */
  readonly expression: string
}

/** The search column of a path. For a list it is the whole list as JSON, folded. */
export function searchColumn(path: string, { schema, table }: Collected): SearchColumn {
  const { shape, parts } = placeAt(path, schema.shape)
  if (shape.kind !== 'string') throw new TypeError(`'${path}' of '${schema.name}' is not a string`)
  const [first = ''] = parts
  const keys = first.split('.')
  const column = columnOf(keys[0] ?? '', table)
  const name = shortName(SEARCH_PREFIX + searchLabel(path, schema))
  const value =
    parts.length > 1 ? `(${json(column.value, keys.slice(1))})::text` : textAt(column, keys)
  const expression = `${table.fold}(${value})`
  return { path, name, sql: table.isAdopted ? expression : identifier(name), expression }
}

/**
 * What names a search: its path, with a second dot after the first list. The values of another version of the model, where
 * there is no list or another one, are in a column of their own.
 */
export function searchLabel(path: string, { shape }: CollectionSchema): string {
  const [first = '', ...rest] = placeAt(path, shape).parts
  return rest.length === 0 ? path : `${first}.${path.slice(first.length) || '.'}`
}

function textAt(column: Column, keys: readonly string[]): string {
  return keys.length === 1 ? column.value : `(${json(column.value, keys.slice(1))} #>> '{}')`
}

/** No letter beyond has a case. */
const CASED_END = 0x1f000

/** The characters that most strings consist of, in lower case: `translate` looks through its list from the start. */
const COMMON =
  'etaoinsrhldcumfpgwybvkxjqz -0123456789.,/:_\'"()áàâãäåçéèêëíìîïñóòôõöøúùûüýšžčćęąłżαεηιοστνρκλμπυςάέήίόύώаеиотнсрвлкмдпуяьыгзбчйхжшюцщэфъё'

/**
 * Creates the function. PostgreSQL's own `lower` depends on the database's locale, and folds some letters differently
 * from the other stores.
 */
export function createFold(space: string): string {
  const common = Array.from(COMMON).filter((char) => fold(char) === char)
  const [from, to] = [[...common], [...common]]
  for (let code = 0x80; code < CASED_END; code += 1) {
    const char = String.fromCodePoint(code)
    if (!char.isWellFormed() || fold(char) === char) continue
    from.push(char)
    to.push(fold(char))
  }
  const quoted = (chars: readonly string[]) => `'${chars.join('').replaceAll("'", "''")}'`
  const lower = `lower(value COLLATE "C")`
  return `CREATE FUNCTION ${identifier(space)}.${FOLD}(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fold$
  SELECT replace(replace(
    CASE WHEN octet_length(value) = length(value) THEN ${lower} ELSE translate(${lower}, ${quoted(from)}, ${quoted(to)}) END,
    E'\\x01\\x01', 'N'), E'\\x01\\x02', 'M')
$fold$`
}
