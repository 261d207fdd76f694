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

/** What an upgrade asks for, as a page of the manual: "Changed", "Removed" and the like of each released version. */
export function upgrades(changelog: string): string {
  const versions = changelog.split(/^## \[/m).slice(1)
  const notes = versions.flatMap((section) => {
    const [version = ''] = section.split(']', 1)
    const asked = section
      .split(/^(?=### )/m)
      .filter((part) => /^### (?:Changed|Deprecated|Removed|Security)$/m.test(part))
      .map((part) =>
        part
          .replace(/^\[[^\]]+\]: .*$/gm, '')
          .replaceAll('](docs/', '](')
          .trim(),
      )
    const isFirst = versions.at(-1) === section
    return version === 'Unreleased' || isFirst || asked.length === 0
      ? []
      : [`## To ${version}\n\n${asked.join('\n\n')}`]
  })
  const begin =
    '# Upgrade notes\n\nWhat you may have to change, version by version, the newest first. Made from the changelog by `npm run release`. [Support](support.md#upgrade) says how to go about it.'
  return `${[begin, ...(notes.length > 0 ? notes : ['There was nothing to upgrade from yet.'])].join('\n\n')}\n`
}

/** A release, as the changelog names it. */
export interface Release {
  readonly version: string
  /** As in 2026-11-22. */
  readonly date: string
  readonly previous: string | undefined
  readonly repository: string
}
