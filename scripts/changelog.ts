/**
 * CHANGELOG.md as text: what a release makes of its section "Unreleased".
 *
 * @module
 */

const HEADING = '## [Unreleased]'
const LINK = /^\[Unreleased\]: (\S+)$/m

/** What stands under "Unreleased", without the heading. Throws where there is no such section, or nothing in it. */
export function unreleased(changelog: string): string {
  const start = changelog.indexOf(`${HEADING}\n`)
  if (start < 0) throw new Error(`CHANGELOG.md has no heading '${HEADING}'`)
  const rest = changelog.slice(start + HEADING.length)
  const end = rest.search(/^## |^\[/m)
  const notes = (end < 0 ? rest : rest.slice(0, end)).trim()
  if (!/^- /m.test(notes)) throw new Error(`CHANGELOG.md lists nothing under '${HEADING}'`)
  return notes
}

/**
 * The changelog with what was unreleased as version `version` of the day `date`, and an empty "Unreleased" above it.
 * `previous` is the version released last, undefined for the first release; `repository` is the address that links
 * to versions begin with.
 */
export function released(
  changelog: string,
  { version, date, previous, repository }: Release,
): string {
  unreleased(changelog)
  if (!LINK.test(changelog)) throw new Error("CHANGELOG.md ends without a link '[Unreleased]: …'")
  const since = previous
    ? `${repository}/compare/v${previous}...v${version}`
    : `${repository}/releases/tag/v${version}`
  return changelog
    .replace(`${HEADING}\n`, () => `${HEADING}\n\n## [${version}] - ${date}\n`)
    .replace(
      LINK,
      () => `[Unreleased]: ${repository}/compare/v${version}...HEAD\n[${version}]: ${since}`,
    )
}

/** A release, as the changelog names it. */
export interface Release {
  readonly version: string
  /** As in 2026-11-22. */
  readonly date: string
  readonly previous: string | undefined
  readonly repository: string
}
