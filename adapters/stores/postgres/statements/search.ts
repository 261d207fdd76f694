/**
 * Literal search that ignores case: a generated column with the folded value, for each searchable path.
 *
 * @module
 */

import { fold } from '../../../../src/ports/fold.ts'
import type { CollectionSchema } from '../../../../src/ports/store.ts'
import { type Column, FOLD, SEARCH_PREFIX } from '../layout/columns.ts'
import { columnOf, found, json, placeAt } from '../layout/operands.ts'
import { every, identifier, shortName } from '../layout/sql.ts'
import { stored } from '../layout/text.ts'
import type { Compilation } from './filter.ts'

/** Terms with fewer characters have no trigram, so the index cannot find them. */
const TRIGRAM = 3

/** The column that a searchable path is searched in. */
export interface SearchColumn {
  readonly path: string
  readonly name: string
  readonly sql: string
  /** Its value, from the record's columns. */
  readonly expression: string
}

/** The search column of a path. For a list it is the whole list as JSON, folded. */
export function searchColumn(
  path: string,
  { schema, table }: Omit<Compilation, 'parameters'>,
): SearchColumn {
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

/** The condition that the string at `field` contains `text`, or one element of a list does. */
export function containsText(field: string, text: string, compilation: Compilation): string {
  const { schema, table, parameters } = compilation
  if (!schema.searchable.includes(field)) {
    throw new TypeError(`the field '${field}' is not searchable`)
  }
  if (!text.isWellFormed()) return 'FALSE'
  const { sql } = searchColumn(field, compilation)
  const term = fold(text)
  if (placeAt(field, schema.shape).parts.length === 1) {
    return holds(sql, folded(term), compilation)
  }
  const whole = JSON.stringify(stored(term)).slice(1, -1)
  const within = parameters.bind(folded(term))
  return every([
    holds(sql, whole, compilation),
    found(field, compilation, (one) => `strpos(${table.fold}(${one.sql}), ${within}) > 0`),
  ])
}

/** `LIKE` is what the index serves; with too short a term it would read the whole index. */
function holds(column: string, term: string, { parameters }: Compilation): string {
  if (Array.from(term).length < TRIGRAM) return `strpos(${column}, ${parameters.bind(term)}) > 0`
  return `${column} LIKE ${parameters.bind(`%${term.replace(/[\\%_]/g, '\\$&')}%`)}`
}

/** NUL and U+0001 as the SQL function writes them: as capital letters, which no fold has. */
function folded(term: string): string {
  return term.replaceAll('\0', 'N').replaceAll('\u0001', 'M')
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
