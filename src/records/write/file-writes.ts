/** Writes of records that point at files. What works them comes with the file store: other apps do not bundle it. */

import { checkTime } from '../../http/deadline.ts'
import type { ApiRequest } from '../../http/request/request.ts'
import type { Filter } from '../../ports/store/filter.ts'
import type { Fields } from '../../ports/store/records.ts'
import type { FileOwner, IncomingFiles } from '../../uploads/writes.ts'
import { KEYED, type Keyed, noteWrite } from '../engine/keyed-writes.ts'
import type { Removal } from '../engine/removal.ts'
import type { Resource } from '../setup/resource.ts'
import type { Expected } from './conditional-write.ts'
import { uploadCode, writeExpected } from './write-request.ts'

type Owner = Pick<FileOwner, 'upload'> & Pick<Resource, 'host' | 'engine' | 'files'>

/** Saves changes and removes the files that they replace. Throws a 404, or the refusal of `expected`. */
export async function updateWithFiles(
  owner: Owner,
  incoming: IncomingFiles,
  filter: Filter,
  changes: Fields,
  expected?: Expected,
): Promise<Fields> {
  const { engine, files, host } = owner
  const { request } = incoming
  checkTime(request)
  if (files.namedIn(changes).length === 0) {
    return writeExpected(request, expected, engine.updateSeen(filter, changes, expected?.fields))
  }
  const { [KEYED]: keyed } = request as Keyed
  const write = (values: Fields, expect: Fields) =>
    noteWrite(keyed, engine.updateSeen(filter, values, expect))
  const code = await uploadCode(host)
  return code.updateWithFiles(owner, incoming, { filter, changes, expected, write })
}

export async function removeFilesOf(
  { host, files }: Pick<Owner, 'host' | 'files'>,
  { record, others }: Removal,
  request: ApiRequest,
): Promise<void> {
  const objects = files.objectsOf(record, host.files)
  for (const one of others) {
    for (const [key, url] of host.filesOf(one.model).objectsOf(one.record, host.files)) {
      objects.set(key, url)
    }
  }
  if (objects.size > 0) await (await uploadCode(host)).removeUnheld(host, objects, request)
}
