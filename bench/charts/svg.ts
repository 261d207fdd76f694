/**
 * Charts as SVG: a lane for each server, with a mark at its median and a line from its least to its most.
 *
 * The pictures have a background and both palettes of their own, and the fonts of whoever looks at them. They are narrow, so
 * that their words can be read on a telephone.
 *
 * @module
 */

import { type Group, type Lane, type Panel, scaleOf } from './panel.ts'

const WIDTH = 480
const MARGIN = 16
/** Where the plot begins and ends; names stand before it, values behind. */
const PLOT = { from: 164, to: 404 }
const LANE = 18
const HEADING = 24
const GAP = 8

const STYLE = `
    .paper { fill: #fff; stroke: #d5d9de }
    text { font: 12px system-ui, sans-serif; fill: #1c2126; stroke: #fff; stroke-width: 4; paint-order: stroke }
    .title { font-size: 15px; font-weight: 600 }
    .panel { font-size: 13px; font-weight: 600 }
    .heading { font-weight: 600 }
    .quiet { fill: #57606a }
    .value { text-anchor: end; font-variant-numeric: tabular-nums }
    .mark { text-anchor: middle }
    .own, .limit, .peer { stroke-width: 2 }
    .grid { stroke: #e4e8ec }
    .one { stroke: #57606a; stroke-dasharray: 3 3 }
    .own { stroke: #0a5fd0; fill: #0a5fd0 }
    .limit { stroke: #1c2126; fill: #1c2126 }
    .peer { stroke: #a8490b; fill: #a8490b }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #12161c; stroke: #353c45 }
      text { fill: #e6eaef; stroke: #12161c }
      .quiet { fill: #9da7b3 }
      .grid { stroke: #2a313a }
      .one { stroke: #9da7b3 }
      .own { stroke: #6bb1ff; fill: #6bb1ff }
      .limit { stroke: #e6eaef; fill: #e6eaef }
      .peer { stroke: #f3a15f; fill: #f3a15f }
    }`

/** What a chart is called, and what stands below it. */
export interface Caption {
  readonly title: string
  /** Short lines below the title. */
  readonly notes: readonly string[]
}

/** The chart of the panels, the same text for the same values. */
export function chart({ title, notes }: Caption, panels: readonly Panel[]): string {
  let y = MARGIN + 15
  const parts = [text(MARGIN, y, title, 'title')]
  for (const note of notes) {
    y += 17
    parts.push(text(MARGIN, y, note, 'quiet'))
  }
  for (const panel of panels) {
    parts.push(...panelAt(y + 30, panel))
    y += 30 + heightOf(panel)
  }
  const height = y + MARGIN
  const description = panels.map(describe).join(' ')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title description">
  <title id="title">${escaped(title)}</title>
  <desc id="description">${escaped(description)}</desc>
  <style>${STYLE}
  </style>
  <rect class="paper" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="6"/>
  ${parts.join('\n  ')}
</svg>
`
}

function heightOf({ groups }: Panel): number {
  return groups.reduce((sum, { lanes }) => sum + HEADING + lanes.length * LANE + GAP, 24)
}

function panelAt(top: number, panel: Panel): string[] {
  const scale = scaleOf(panel)
  const x = (value: number) => round(PLOT.from + scale.place(value) * (PLOT.to - PLOT.from))
  const bottom = top + heightOf(panel) - GAP
  const lines = scale.marks.flatMap((mark) => [
    `<path class="${mark === 1 && panel.scale === 'log' ? 'one' : 'grid'}" d="M${x(mark)} ${top + 26}V${bottom}"/>`,
    text(x(mark), top + 20, String(mark), 'quiet mark'),
  ])
  const parts = [
    text(MARGIN, top, panel.title, 'panel'),
    text(WIDTH - MARGIN, top + 20, panel.unit, 'quiet value'),
    ...lines,
  ]
  let y = top + 24
  for (const group of panel.groups) {
    parts.push(...groupAt(y, group, x))
    y += HEADING + group.lanes.length * LANE + GAP
  }
  return parts
}

function groupAt(top: number, { heading, lanes }: Group, x: (value: number) => number): string[] {
  return [
    text(MARGIN, top + 18, heading, 'heading'),
    ...lanes.flatMap((lane, at) => laneAt(top + HEADING + at * LANE + LANE / 2, lane, x)),
  ]
}

function laneAt(y: number, lane: Lane, x: (value: number) => number): string[] {
  const { server, median, least, most } = lane
  const kind = kindOf(server)
  return [
    text(MARGIN + 8, y + 4, server),
    `<path class="${kind}" d="M${x(least)} ${y}H${x(most)}M${x(least)} ${y - 3}v6M${x(most)} ${y - 3}v6"/>`,
    kind === 'limit'
      ? `<rect class="limit" x="${round(x(median) - 3.5)}" y="${y - 3.5}" width="7" height="7"/>`
      : `<circle class="${kind}" cx="${x(median)}" cy="${y}" r="4"/>`,
    text(WIDTH - MARGIN, y + 4, lane.text, 'value'),
  ]
}

function kindOf(server: string): 'own' | 'limit' | 'peer' {
  if (server.startsWith('fieldgate')) return 'own'
  return server.startsWith('limit') ? 'limit' : 'peer'
}

/** The medians as sentences, for those who don't see the picture. */
function describe({ title, unit, groups }: Panel): string {
  const told = groups.map(({ heading, lanes }) => {
    const values = lanes.map((lane) => `${lane.server} ${lane.text}`)
    return `${heading}: ${values.join(', ')}.`
  })
  return `${title}; medians, ${unit}. ${told.join(' ')}`
}

function text(x: number, y: number, content: string, style = ''): string {
  const named = style === '' ? '' : ` class="${style}"`
  return `<text${named} x="${x}" y="${y}">${escaped(content)}</text>`
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

/** A tenth of a pixel is enough. */
function round(value: number): number {
  return Math.round(value * 10) / 10
}
