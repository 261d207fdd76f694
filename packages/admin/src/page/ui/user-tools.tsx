/**
 * What may be done with a user's account, beside its fields.
 *
 * @module
 */

import { type RaRecord, useRefresh } from 'ra-core'
import { type ReactNode, useState } from 'react'
import { useAdmin, useRights } from '../context.ts'
import type { Outcome } from '../data.ts'
import { useStrings } from '../i18n.ts'
import { Notice } from './parts.tsx'
import { idOf } from './value.tsx'
import { useRefused } from './ways.ts'

/** Roles, sessions and keys, as far as the routes are there for the caller. */
export function UserTools({ record }: { record: RaRecord }) {
  const { shape, accounts } = useAdmin()
  const rights = useRights()
  const t = useStrings()
  const run = useRun()
  const { routes = {} } = shape.accounts ?? {}
  const may = (name: string) => rights.allows(routes[name]?.operation)
  const roles = rolesOf(routes.modifyRoles?.operation)
  const id = idOf(record)
  const [chosen, setChosen] = useState<string>()
  const own = [record.role ?? []].flat().map(String)
  const shown = [...new Set([...own, ...roles])]
  return (
    <section className="tools">
      {may('modifyRoles') && roles.length > 0 && (
        <label className="field">
          <span>{t('role')}</span>
          <select value={chosen ?? own[0]} onChange={({ target }) => setChosen(target.value)}>
            {shown.map((role) => (
              <option key={role}>{role}</option>
            ))}
          </select>
        </label>
      )}
      {/* Keys choose one role after the other on their way. */}
      {chosen !== undefined && chosen !== own[0] && (
        <button
          type="button"
          className="primary"
          onClick={() => run.go(() => accounts?.modifyRoles?.(id, { role: chosen }), t('changed'))}
        >
          {t('change')}
        </button>
      )}
      {may('endUserSessions') && (
        <button
          type="button"
          onClick={() => run.go(() => accounts?.endUserSessions?.(id), t('ended'))}
        >
          {t('endSessions')}
        </button>
      )}
      {run.said}
    </section>
  )
}

/** The roles that may be given. */
function rolesOf(operation: { requestBody?: { content: object } } | undefined): readonly string[] {
  const found = /"role":\{"type":"string","enum":(\[[^\]]*\])/.exec(
    JSON.stringify(operation?.requestBody ?? {}),
  )
  return found?.[1] ? JSON.parse(found[1]) : []
}

/** Calls something, and says what came of it at its place. */
export function useRun() {
  const refused = useRefused()
  const refresh = useRefresh()
  const [said, setSaid] = useState<ReactNode>(null)
  async function go<T>(
    call: () => Promise<Outcome<T> | undefined> | undefined,
    done = '',
  ): Promise<T | undefined> {
    setSaid(null)
    const result = await call()
    if (!result) return undefined
    if (!result.ok) {
      setSaid(<Notice kind="error">{refused(result.error)}</Notice>)
      return undefined
    }
    setSaid(<Notice kind="done">{done}</Notice>)
    refresh()
    return result.data
  }
  return { go, said, setSaid }
}
