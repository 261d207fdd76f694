/**
 * The parameters of a router's lists: one entry for each row of the router's own table, so that a row without one does
 * not compile.
 */

import type { HttpError } from '../../http/errors/errors.ts'
import * as refuse from '../../http/errors/refusals.ts'
import { COMPARE, MAX_LIST, OPERATORS } from '../../records/engine/conditions.ts'
import {
  type BodyKey,
  LIST_PARAMETERS,
  type ListParameter,
  MAX_SORT_KEYS,
  type UrlName,
} from '../../records/list/parameters.ts'
import type { Resource } from '../../records/setup/resource.ts'
import { queryFields } from '../../records/setup/serving.ts'
import { filterSchema, valueSchema } from '../schemas/filter-schema.ts'
import { partsOf } from '../schemas/shown.ts'
import type { Parameter, Schema } from '../specification.ts'
import { aggregateKey, byKey, groupSorts } from './aggregates.ts'
import { type Describe, type Described, expand, parameter, select } from './choice-parameters.ts'

const page: Describe = ({ maxPage }) => {
  const isLimited = Number.isFinite(maxPage)
  return {
    schema: { type: 'integer', minimum: 1, ...(isLimited && { maximum: maxPage }) },
    description: 'The number of the page, from 1.',
    refusals: [
      refuse.usesCursors(),
      ...(isLimited ? [refuse.pageTooDeep(maxPage + 1, maxPage)] : []),
    ],
  }
}

const pageSize: Describe = ({ defaultPageSize, maxLimit }) => ({
  schema: { type: 'integer', minimum: 1, default: defaultPageSize },
  description: `Records per page; more than ${maxLimit} count as ${maxLimit}.`,
  refusals: [],
})

const cursor: Describe = () => ({
  schema: { type: 'string' },
  description:
    'The `nextCursor` of the page before. Without it, the first page. Keep filters and sort as they were.',
  refusals: [
    refuse.usesPages(),
    refuse.invalidCursor(),
    refuse.cursorOfOtherSort(),
    refuse.cursorAnchorGone(),
  ],
})

const search: Describe = (resource) => ({
  schema:
    resource.search.length > 0
      ? { type: 'string', maxLength: resource.maxSearchLength }
      : undefined,
  description: `Text to find, upper or lower case, in ${namesOf(queryFields(resource).search)}.${resource.allowRawRegex ? ' A regular expression.' : ''}`,
  refusals: [
    refuse.searchNotString(),
    refuse.searchTooLong(resource.maxSearchLength),
    ...(resource.allowRawRegex ? [refuse.searchPatternInvalid()] : []),
  ],
})

const filterField = ({ filterable, legacyMode }: Resource): Schema | undefined =>
  legacyMode ? { type: 'string' } : enumOf([...filterable])

const IN_URL: Readonly<Record<UrlName, Describe>> = {
  rangeField: (resource) => ({
    schema: filterField(resource),
    description: 'The field of `range`.',
    refusals: [refuse.fieldNotSingle('rangeField'), refuse.notFilterable('<field>')],
  }),
  range: (resource) => ({
    schema: filterField(resource) && { type: 'string' },
    description:
      'Both bounds of `rangeField`, or one: `10-20`, `10-`, `-20`; dates as `2024-01-01..2024-02-01`.',
    refusals: [refuse.invalidRange()],
  }),
  compareField: (resource) => ({
    schema: filterField(resource),
    description: 'The field to compare with `compareValue`.',
    refusals: [refuse.fieldNotSingle('compareField'), refuse.notFilterable('<field>')],
  }),
  compareOperator: (resource) => ({
    schema: filterField(resource) && { type: 'string', enum: COMPARE, default: 'eq' },
    description: 'How `compareField` is compared.',
    refusals: [refuse.unknownCompareOperator('<operator>')],
  }),
  compareValue: (resource) => ({
    schema: filterField(resource) && { type: 'string' },
    description: 'What `compareField` is compared with.',
    refusals: [refuse.invalidCompareValue(), refuse.invalidValue('<field>')],
  }),
  s: search,
  search: (resource) => ({ ...search(resource), description: 'The same as `s`, which wins.' }),
  sort: ({ sortable, legacyMode }) => ({
    schema: legacyMode ? { type: 'string' } : enumOf(sortKeys(sortable)),
    description: 'The field to sort by; `-` in front for descending.',
    refusals: [refuse.sortNotSingle(), refuse.notSortable('<field>')],
  }),
  page,
  pageSize,
  cursor,
  select,
  expand,
}

/** What is refused of what an operator compares with. */
const OPERANDS = [
  ...['expects a single value', 'expects a list', 'expects a non-empty list'],
  ...[`exceeds ${MAX_LIST} values`, 'expects scalar values'],
]

const IN_BODY: Readonly<Record<BodyKey, Describe>> = {
  filter: (resource) => ({
    schema: filterSchema(resource),
    description: 'Conditions by field; all have to hold, and one of the filters in `or`.',
    refusals: [
      refuse.filterNotObject(),
      refuse.notAlternatives(),
      refuse.notFilterable('<field>'),
      refuse.filterEmpty('<field>'),
      refuse.invalidValue('<field>'),
      refuse.unknownOperator('<operator>', '<field>', OPERATORS),
      ...OPERANDS.map((problem) => refuse.operand('<operator>', '<field>', problem)),
    ],
  }),
  search,
  sort: (resource) => {
    const key = enumOf(sortKeys(new Set([...resource.sortable, ...groupSorts(resource)])))
    return {
      schema: key && { anyOf: [key, { type: 'array', items: key, maxItems: MAX_SORT_KEYS }] },
      description:
        'The field to sort by, or a list of them; `-` in front for descending. Groups sort by what was asked for, as `-count`.',
      refusals: [
        refuse.sortNotList(),
        refuse.sortTooLong(MAX_SORT_KEYS),
        refuse.notSortable('<field>'),
      ],
    }
  },
  page: (resource) => ({ ...page(resource), refusals: positive('page', page(resource)) }),
  pageSize: (resource) => ({
    ...pageSize(resource),
    refusals: positive('pageSize', pageSize(resource)),
  }),
  limit: ({ maxLimit }) => ({
    schema: { type: 'integer', minimum: 1 },
    description: `The most records without pages; at most ${maxLimit}. Not with \`page\` or \`pageSize\`.`,
    refusals: [
      refuse.notPositiveInteger('limit'),
      refuse.limitAndPage(),
      refuse.limitOnCursorServer(),
    ],
  }),
  cursor: (resource) => ({
    ...cursor(resource),
    refusals: [refuse.cursorNotString(), ...cursor(resource).refusals],
  }),
  select,
  expand,
  aggregate: aggregateKey,
  by: byKey,
}

function positive(key: string, { refusals }: Described): readonly HttpError[] {
  return [refuse.notPositiveInteger(key), ...refusals]
}

/** The parameters of a GET, and what may be refused about them. */
export function urlParameters(resource: Resource): {
  readonly parameters: readonly Parameter[]
  readonly refusals: readonly HttpError[]
} {
  const rows = rowsOf(resource, IN_URL, (row) => row.name)
  const listed = rows.flatMap(({ name, description, schema }): Parameter[] =>
    schema ? [parameter(name, description, schema)] : [],
  )
  return {
    parameters: [...resource.query.map((field) => equality(resource, field)), ...listed],
    refusals: [
      refuse.invalidFilter('<field>'),
      ...(resource.query.length > 0 ? [refuse.tooManyValues('<field>', MAX_LIST)] : []),
      ...refusalsOf(rows, resource),
    ],
  }
}

interface Row extends Described {
  readonly name: string
  readonly pages: ListParameter['pages']
}

/** The parameters in a URL or in a body, as `describe` has them by their names; those of other pages have no schema. */
function rowsOf<Name extends string>(
  resource: Resource,
  describe: Readonly<Record<Name, Describe>>,
  nameOf: (row: ListParameter) => Name | undefined,
): readonly Row[] {
  return LIST_PARAMETERS.flatMap((row) => {
    const name = nameOf(row)
    if (name === undefined) return []
    const { schema, ...described } = describe[name](resource)
    const isOther = row.pages !== undefined && row.pages.kind !== resource.pagination
    return [{ name, ...described, schema: isOther ? undefined : schema, pages: row.pages }]
  })
}

/** A parameter of the other kind of pages is refused with one message alone. */
function refusalsOf(rows: readonly Row[], { pagination }: Resource): readonly HttpError[] {
  return rows.flatMap(({ refusals, pages }) => {
    if (pages === undefined) return refusals
    const other = pages.refusal()
    return pages.kind === pagination
      ? refusals.filter(({ message }) => message !== other.message)
      : [other]
  })
}

function equality({ model }: Resource, field: string): Parameter {
  const one = valueSchema(model.shape, field)
  return {
    name: field,
    in: 'query',
    description: `Records whose \`${field}\` is one of the values.`,
    style: 'form',
    explode: true,
    // Clients that are made of the document then take one value without a list around it.
    schema: { anyOf: [one, { type: 'array', items: one, maxItems: MAX_LIST }] },
  }
}

/** The body of a QUERY, and what may be refused about it. */
export function queryBody(resource: Resource): {
  readonly schema: Schema
  readonly refusals: readonly HttpError[]
} {
  const rows = rowsOf(resource, IN_BODY, (row) => row.key)
  const properties = rows.flatMap(({ name, schema, description }) =>
    schema ? [[name, { ...schema, description }] as const] : [],
  )
  const keys = rows.map(({ name }) => name)
  return {
    schema: partsOf(Object.fromEntries(properties)),
    refusals: [
      refuse.queryNotJson(),
      refuse.queryNotObject(),
      refuse.unknownQueryKey('<key>', keys),
      ...refusalsOf(rows, resource),
    ],
  }
}

function enumOf(names: readonly string[]): Schema | undefined {
  return names.length > 0 ? { type: 'string', enum: names } : undefined
}

function sortKeys(fields: Iterable<string>): readonly string[] {
  return [...fields].flatMap((field) => [field, `-${field}`])
}

function namesOf(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ')
}
