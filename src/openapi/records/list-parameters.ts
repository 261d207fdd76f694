/** The parameters of a router's lists: a row of the router's own table that has no entry here does not compile. */

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
import { enumOf, partsOf, TEXT } from '../schemas/schemas.ts'
import type { Parameter, Schema } from '../specification.ts'
import { aggregateKey, byKey, groupSorts } from './aggregates.ts'
import {
  type Asked,
  type Describe,
  expand,
  parametersOf,
  type Row,
  select,
} from './choice-parameters.ts'

const page: Describe = ({ maxPage }) => {
  const isLimited = Number.isFinite(maxPage)
  return {
    schema: { type: 'integer', minimum: 1, ...(isLimited && { maximum: maxPage }) },
    description: 'The number of the page, from 1.',
    refusals: isLimited ? [refuse.pageTooDeep(maxPage + 1, maxPage)] : [],
  }
}

const pageSize: Describe = ({ defaultPageSize, maxLimit }) => ({
  schema: { type: 'integer', minimum: 1, default: defaultPageSize },
  description: `Records per page; more than ${maxLimit} count as ${maxLimit}.`,
  refusals: [],
})

const cursor: Describe = () => ({
  schema: TEXT,
  description:
    'The `nextCursor` of the page before. Without it, the first page. Keep filters and sort as they were.',
  refusals: [refuse.invalidCursor(), refuse.cursorOfOtherSort(), refuse.cursorAnchorGone()],
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
  legacyMode ? TEXT : enumOf([...filterable])

const IN_URL: Readonly<Record<UrlName, Describe>> = {
  rangeField: (resource) => ({
    schema: filterField(resource),
    description: 'The field of `range`.',
    refusals: [refuse.fieldNotSingle('rangeField'), refuse.notFilterable('<field>')],
  }),
  range: (resource) => ({
    schema: filterField(resource) && TEXT,
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
    schema: filterField(resource) && TEXT,
    description: 'What `compareField` is compared with.',
    refusals: [refuse.invalidCompareValue(), refuse.invalidValue('<field>')],
  }),
  s: search,
  search: (resource) => ({ ...search(resource), description: 'The same as `s`, which wins.' }),
  sort: ({ sortable, legacyMode }) => ({
    schema: legacyMode ? TEXT : enumOf(sortKeys(sortable)),
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
  page: also(page, () => refuse.notPositiveInteger('page')),
  pageSize: also(pageSize, () => refuse.notPositiveInteger('pageSize')),
  limit: ({ maxLimit }) => ({
    schema: { type: 'integer', minimum: 1 },
    description: `The most records without pages; at most ${maxLimit}. Not with \`page\` or \`pageSize\`.`,
    refusals: [refuse.notPositiveInteger('limit'), refuse.limitAndPage()],
  }),
  cursor: also(cursor, refuse.cursorNotString),
  select,
  expand,
  aggregate: aggregateKey,
  by: byKey,
}

/** A parameter that is refused for one more reason. */
function also(describe: Describe, refusal: () => HttpError): Describe {
  return (resource) => {
    const described = describe(resource)
    return { ...described, refusals: [refusal(), ...described.refusals] }
  }
}

export function urlParameters(resource: Resource): Asked {
  const listed = parametersOf(rowsOf(resource, IN_URL, (row) => row.name))
  return {
    parameters: [...resource.query.map((field) => equality(resource, field)), ...listed.parameters],
    refusals: [
      refuse.invalidFilter('<field>'),
      ...(resource.query.length > 0 ? [refuse.tooManyValues('<field>', MAX_LIST)] : []),
      ...listed.refusals,
    ],
  }
}

/** The parameters, as `describe` has them by their names. One of the other kind of pages has no schema, and one message. */
function rowsOf<Name extends string>(
  resource: Resource,
  describe: Readonly<Record<Name, Describe>>,
  nameOf: (row: ListParameter) => Name | undefined,
): readonly Row[] {
  return LIST_PARAMETERS.flatMap((row) => {
    const name = nameOf(row)
    if (name === undefined) return []
    const own = { name, ...describe[name](resource) }
    const isOther = row.pages && row.pages.kind !== resource.pagination
    return [isOther ? { ...own, schema: undefined, refusals: [row.pages.refusal()] } : own]
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
      ...rows.flatMap(({ refusals }) => refusals),
    ],
  }
}

function sortKeys(fields: Iterable<string>): readonly string[] {
  return [...fields].flatMap((field) => [field, `-${field}`])
}

function namesOf(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ')
}
