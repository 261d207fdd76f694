/** What may be written: bodies by media type, and what they may be refused for. */

import type { HttpError } from '../../http/errors/errors.ts'
import * as refuse from '../../http/errors/refusals.ts'
import { enforcedReferences } from '../../model/enforced-references.ts'
import type { Model } from '../../model/model.ts'
import { topOf } from '../../ports/values/paths.ts'
import { duplicateIn } from '../../records/engine/clashes.ts'
import type { Host } from '../../records/engine/host.ts'
import { MAX_REFERENCES } from '../../records/engine/integrity.ts'
import { overlapIn } from '../../records/engine/model-rules.ts'
import type { Resource } from '../../records/setup/resource.ts'
import { writableNow } from '../../records/setup/write-rules.ts'
import { LEVELS } from '../../uploads/options.ts'
import * as uploads from '../../uploads/refusals.ts'
import type { Content, Parameter, Schema } from '../specification.ts'
import type { Schemas } from './named-schemas.ts'
import { bodyRefusals } from './responses.ts'
import { bodySchema, type ObjectSchema } from './schemas.ts'

export function bodyOf(resource: Resource, write: 'create' | 'update', schemas: Schemas): Content {
  const { model, files, upload } = resource
  const fields = writableNow(resource, write)
  const name = `${model.name}${write === 'create' ? 'Create' : 'Update'}`
  // A new record has no file yet whose URL could be sent.
  const textual =
    write === 'create' ? fields.filter((field) => !files.names.includes(field)) : fields
  const json = schemas.add(name, bodySchema(model, textual, write))
  if (!upload) return { 'application/json': { schema: json } }
  const { schema, defs } = bodySchema(model, fields, write, 'form')
  const { properties = {}, ...rest } = schema as ObjectSchema
  const uploaded = [...upload.fields.values()].filter(({ name: field }) => fields.includes(field))
  const sent = Object.fromEntries(
    uploaded.map(({ name: field, maxCount }) => {
      const file = { type: 'string', format: 'binary' }
      return [field, maxCount > 1 ? { type: 'array', items: file, maxItems: maxCount } : file]
    }),
  )
  const types = [...upload.allowedMimeTypes].join(', ')
  const level = upload.allowClientImageOptions ? { imgOptimizations: LEVEL } : {}
  const form = { schema: { ...rest, properties: { ...properties, ...level, ...sent } }, defs }
  return {
    'application/json': { schema: json },
    'multipart/form-data': {
      schema: schemas.add(`${name}Form`, form),
      encoding: Object.fromEntries(
        Object.keys(sent).map((field) => [field, { contentType: types }]),
      ),
    },
  }
}

const LEVEL: Schema = { type: 'string', enum: LEVELS }

/** What is refused of a change beside its values. */
export function changeRefusals({ model, hooks }: Resource): readonly HttpError[] {
  return [
    ...(model.transitions ?? []).map(({ field }) =>
      refuse.forbiddenTransition(field, "'<value>'", "'<value>'"),
    ),
    ...(hooks.beforeUpdate || hooks.afterUpdate ? [refuse.changedMeanwhile()] : []),
  ]
}

export function levelParameters({ upload }: Resource): readonly Parameter[] {
  if (!upload?.allowClientImageOptions) return []
  const description = 'How strongly uploaded images are compressed.'
  return [
    { name: 'imgOptimizations', in: 'query', description, schema: LEVEL },
    { name: 'X-Img-Optimizations', in: 'header', description, schema: LEVEL },
  ]
}

/** What the deletion of a record of `model` may be refused for, because others refer to it. */
export function referringRefusals(host: Host, { name }: Model): readonly HttpError[] {
  return [...host.known()]
    .filter((other) => enforcedReferences(other).some(({ target }) => target === name))
    .map((other) => refuse.stillReferenced(other.name))
}

export function writeRefusals(
  { model, host, upload, scope }: Resource,
  fields: ReadonlySet<string>,
): readonly HttpError[] {
  const media = upload ? 'application/json or multipart/form-data' : 'application/json'
  const unique = model.unique.filter((set) => set.some((field) => fields.has(topOf(field))))
  return [
    ...bodyRefusals(host, media),
    refuse.nothingWritable(),
    refuse.nestedTooDeeply('<field>'),
    refuse.invalidFields({}),
    ...(scope.write ? [refuse.outsideScope()] : []),
    ...unique.map((set) => duplicateIn(model, set)),
    ...(model.exclude ?? []).map(({ range }) => overlapIn(model, range)),
    ...(enforcedReferences(model).length > 0
      ? [refuse.noSuchReferences(['<field>']), refuse.tooManyReferences(MAX_REFERENCES)]
      : []),
    ...(upload ? uploadRefusals(upload, host) : []),
  ]
}

function uploadRefusals(
  { imgOptimizations, allowClientImageOptions }: NonNullable<Resource['upload']>,
  { files }: Host,
): readonly HttpError[] {
  const compresses = imgOptimizations !== undefined || allowClientImageOptions
  return [
    uploads.fileTooLarge(),
    uploads.tooManyFiles(),
    uploads.tooManyFields(),
    uploads.unexpectedFile(),
    uploads.fieldTooLong(),
    uploads.malformedMultipart(),
    uploads.unrecognisedType('<field>'),
    uploads.typeNotAllowed('<type>'),
    ...(compresses ? [uploads.imageTooLarge()] : []),
    files ? uploads.storageUnavailable(undefined) : uploads.storageNotConfigured(),
  ]
}
