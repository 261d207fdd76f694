/** A copy of a database while it is in use. */

import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { CONSUMERS } from '../../../../src/ports/store/changes.ts'
import { newEpoch } from '../../changes/position.ts'
import { LOG } from '../changes/log.ts'
import { identifier } from '../layout/sql.ts'
import { Connection } from './connection.ts'

/** What a backup holds. */
export interface BackedUp {
  readonly bytes: number
  /** The collections, each with the number of its records. */
  readonly collections: readonly { readonly name: string; readonly records: number }[]
}

/**
 * Copies the database in the file `path` to a new file, as it is at one moment: other processes go on reading and
 * writing. The new file appears when the copy is complete, checked and on disk; until then its name ends in
 * `.unfinished`. Throws, and leaves no file, where there is one already, the disk is full or the check fails; or if another
 * process makes a copy there now.
 */
export function backUp(path: string, to: string): BackedUp {
  const unfinished = `${to}.unfinished`
  const remove = () => {
    for (const file of [unfinished, `${unfinished}-journal`]) rmSync(file, { force: true })
  }
  refuseExisting(to)
  const unlock = locked(to, `${unfinished}-lock`)
  try {
    // Of a backup that was killed.
    remove()
    copy(path, unfinished)
    beginLog(unfinished)
    const made = checked(unfinished)
    refuseExisting(to)
    persist(unfinished)
    renameSync(unfinished, to)
    persist(dirname(to))
    return made
  } finally {
    remove()
    unlock()
  }
}

/** Keeps others from the copy until the result is called. SQLite's lock ends with its process, also one that is killed. */
function locked(to: string, file: string): () => void {
  let lock: Connection | undefined
  try {
    lock = new Connection(file, { setsUp: false })
    lock.db.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (error) {
    lock?.close()
    const { message } = error as Error
    const isTaken = message.includes('locked')
    if (!isTaken) rmSync(file, { force: true })
    const why = isTaken ? 'another backup is writing it' : message
    throw new Error(`'${to}' can't be written: ${why}`, { cause: error })
  }
  const held = lock
  return () => {
    held.close()
    rmSync(file, { force: true })
  }
}

/** Throws if the file is there, or its folder is not. */
export function refuseExisting(file: string): void {
  // With a slash at the end, a file is no folder.
  if (!existsSync(`${dirname(file)}/`)) throw new Error(`there is no folder '${dirname(file)}'`)
  if (existsSync(file)) throw new Error(`'${file}' is there already: name a new file, or remove it`)
}

function copy(path: string, to: string): void {
  const source = new Connection(path, { readOnly: true })
  try {
    // Nothing else runs in this process, so SQLite may wait for whoever has the lock.
    source.db.exec('PRAGMA busy_timeout = 10000')
    // Whoever may not read the database may not read its copy. SQLite takes an empty file for a new one.
    closeSync(openSync(to, 'wx', statSync(path).mode))
    source.rows({ sql: 'VACUUM INTO ?1', values: [to] })
  } catch (error) {
    throw new Error(`'${to}' can't be written: ${(error as Error).message}`, { cause: error })
  } finally {
    source.close()
  }
}

/**
 * Positions in the log of changes lead nowhere in a copy: other entries will get the same numbers. Those of consumers, which
 * are in it too, become its own.
 */
function beginLog(path: string): void {
  const connection = new Connection(path, { setsUp: false })
  const isThere = (table: string) => connection.rows({ sql: FIND, values: [table] }).length > 0
  const own = `UPDATE ${CONSUMERS} SET doc = replace(doc, (SELECT epoch || '-' FROM ${LOG}), ?1 || '-')`
  const values = [newEpoch()]
  try {
    if (!isThere(LOG)) return
    if (isThere(CONSUMERS)) connection.write({ sql: own, values })
    connection.write({ sql: `UPDATE ${LOG} SET epoch = ?1`, values })
  } finally {
    connection.close()
  }
}

const FIND = `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1`

/** Waits until a file or a folder is on disk. Windows can't do that with folders, and doesn't need it. */
function persist(path: string): void {
  const isFolder = statSync(path).isDirectory()
  if (process.platform === 'win32' && isFolder) return
  // Windows does it only for those who may write.
  const file = openSync(path, isFolder ? 'r' : 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function checked(path: string): BackedUp {
  const connection = new Connection(path, { readOnly: true })
  const rows = (sql: string) => connection.rows({ sql, values: [] })
  try {
    const faults = rows('PRAGMA integrity_check').map(({ integrity_check }) =>
      String(integrity_check),
    )
    if (faults.join() !== 'ok')
      throw new Error(`the copy is damaged: ${faults.slice(0, 3).join('; ')}`)
    const tables = rows(
      `SELECT t.name FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c ON c.name = 'doc'
       WHERE t.type = 'table' AND t.schema = 'main' ORDER BY t.name`,
    )
    const collections = tables.map(({ name }) => {
      const [row] = rows(`SELECT COUNT(*) AS records FROM ${identifier(String(name))}`)
      return { name: String(name), records: Number(row?.records) }
    })
    return { bytes: statSync(path).size, collections }
  } finally {
    connection.close()
  }
}
