/** The `upload` option of a router (spec 4.3): its names, defaults and start-up errors. */

import * as rule from '../model/option-rules.ts'
import { checkOptions, type Fail, isNames, type Rule } from '../model/option-rules.ts'
import { type Acl, isKey } from '../ports/services/files.ts'
import type { OptimizationLevel } from '../ports/services/images.ts'
import type { ObjectShape, Shape } from '../ports/store/shape.ts'

/** One field that takes files. */
export interface FileField<Name extends string = string> {
  /** A field of the model: a string, or a list of strings if `maxCount` is above 1. */
  readonly name: Name
  /** How many files it holds. Default 1. */
  readonly maxCount?: number
  /** Whether each URL is stored as `{ url }`. Default false. */
  readonly formatToUrlObject?: boolean
}

/** The `upload` option of a router. */
export interface UploadOptions<Name extends string = string> {
  /** The prefix of the keys of stored files. Default `'files/'`. */
  readonly path?: string
  /** The fields that take files. Default: one field named `file`. */
  readonly fields?: readonly FileField<Name>[]
  /** Who may read the files. Default `'private'`. */
  readonly acl?: Acl
  /** The media types that may be stored, detected from the bytes. Default: JPEG, PNG, GIF, WebP, AVIF and PDF. */
  readonly allowedMimeTypes?: readonly string[]
  /** The most bytes per file. Default 10 MiB. */
  readonly maxFileSize?: number
  /** The most files per request. Default 10. */
  readonly maxFiles?: number
  /** How strongly JPEG, PNG and WebP images are compressed; needs `createApp({ images })`. Default: not at all. */
  readonly imgOptimizations?: OptimizationLevel
  /** Whether clients may choose the level. Default false. */
  readonly allowClientImageOptions?: boolean
  /**
   * If set, reads return signed links to private files, valid for at least this many seconds, even if the response
   * comes from the cache. At most seven days, the limit of S3; close to that, a link from the cache may last up to the
   * cache's `ttl` less. Default: reads return the stored URLs.
   */
  readonly signUrls?: number
}

/** The options of one router, resolved. */
export interface Upload {
  /** Ends with `/`. */
  readonly prefix: string
  readonly fields: ReadonlyMap<string, Required<FileField>>
  readonly acl: Acl
  readonly allowedMimeTypes: ReadonlySet<string>
  readonly maxFileSize: number
  readonly maxFiles: number
  readonly imgOptimizations: OptimizationLevel | undefined
  readonly allowClientImageOptions: boolean
  /** Undefined if reads return the stored URLs. */
  readonly signUrls: number | undefined
}

/** The levels, mildest first. */
export const LEVELS: readonly OptimizationLevel[] = ['low', 'medium', 'high']

const DEFAULT_TYPES = [
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'image/avif',
  'application/pdf',
]
const MEDIA_TYPE = /^[a-z0-9][\w!#$&^.+-]*\/[a-z0-9][\w!#$&^.+-]*$/
const MIB = 1024 * 1024
/** Seven days in seconds: no S3 link lasts longer, and what works with files on disk has to work there. */
export const MAX_LINK_SECONDS: number = 7 * 24 * 60 * 60

const SECONDS = `be a whole number of seconds from 1 to ${MAX_LINK_SECONDS}`

const RULES: Readonly<Record<keyof UploadOptions, Rule>> = {
  path: rule.text,
  fields: {
    must: 'be a list of fields',
    test: (value) => Array.isArray(value) && value.length > 0,
  },
  acl: rule.oneOf('private', 'public-read'),
  allowedMimeTypes: {
    must: `be a list of media types in lower case, as in ['image/png']`,
    test: (value) =>
      isNames(value) && value.length > 0 && value.every((type) => MEDIA_TYPE.test(type)),
  },
  maxFileSize: rule.natural,
  maxFiles: rule.natural,
  imgOptimizations: rule.oneOf(...LEVELS),
  allowClientImageOptions: rule.flag,
  signUrls: rule.wholeNumber(SECONDS, 1, MAX_LINK_SECONDS),
}

export function resolveUpload(options: UploadOptions, shape: ObjectShape, fail: Fail): Upload {
  checkOptions(options, RULES, fail, 'upload.')
  const { path = 'files/', fields = [{ name: 'file' }], acl = 'private', signUrls } = options
  const { allowedMimeTypes = DEFAULT_TYPES, maxFileSize = 10 * MIB, maxFiles = 10 } = options
  return {
    prefix: prefixOf(path, fail),
    fields: fileFields(fields, shape, fail),
    acl,
    allowedMimeTypes: new Set(allowedMimeTypes),
    maxFileSize,
    maxFiles,
    imgOptimizations: options.imgOptimizations,
    allowClientImageOptions: options.allowClientImageOptions === true,
    signUrls: acl === 'private' ? signUrls : undefined,
  }
}

function prefixOf(path: string, fail: Fail): string {
  const trimmed = path.replace(/^\/+/, '').replace(/(^|[^/])\/+$/, '$1')
  if (!isKey(trimmed) || trimmed.length > 256) {
    fail(`'upload.path' must be a folder name of letters, digits, '-', '_', '.' and '/'`)
  }
  return `${trimmed}/`
}

const FIELD_RULES: Readonly<Record<keyof FileField, Rule>> = {
  name: rule.whatever,
  maxCount: rule.natural,
  formatToUrlObject: rule.flag,
}

function fileFields(
  fields: readonly FileField[],
  shape: ObjectShape,
  fail: Fail,
): Upload['fields'] {
  const found = new Map<string, Required<FileField>>()
  for (const [index, field] of fields.entries()) {
    checkOptions(field ?? {}, FIELD_RULES, fail, `upload.fields[${index}].`)
    const made = fileField(field, shape, fail)
    if (found.has(made.name)) fail(`'upload.fields' names '${made.name}' twice`)
    found.set(made.name, made)
  }
  return found
}

function fileField(field: FileField, shape: ObjectShape, fail: Fail): Required<FileField> {
  const { name, maxCount = 1, formatToUrlObject = false } = field ?? {}
  const found = shape.fields.get(name)
  if (!found) return fail(`'upload.fields' lists '${name}', but the model has no such field`)
  const one = formatToUrlObject ? 'an object with a url' : 'a string'
  if (maxCount === 1 && !holdsUrl(found, formatToUrlObject)) {
    fail(`'${name}' must be ${one} to take a file`)
  }
  const element = found.kind === 'list' ? found.element : undefined
  if (maxCount > 1 && found.kind !== 'mixed' && !holdsUrl(element, formatToUrlObject)) {
    fail(`'${name}' must be a list, each element ${one}, to take ${maxCount} files`)
  }
  return { name, maxCount, formatToUrlObject }
}

/** A `mixed` field may accept anything; whether it does shows only in validation. */
function holdsUrl(shape: Shape | undefined, asObject: boolean): boolean {
  if (shape?.kind === 'mixed') return true
  if (!asObject) return shape?.kind === 'string'
  if (shape?.kind === 'map') return holdsUrl(shape.value, false)
  return shape?.kind === 'object' && holdsUrl(shape.fields.get('url'), false)
}
