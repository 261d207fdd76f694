/**
 * A way to sign in of your own: a link that is mailed, and opens one session. It takes the place of a password, and proves
 * the address that it went to.
 *
 * @module
 */

import { type Fields, HttpError } from 'fieldgate'
import { type Accounts, defineMethod, type Method, methodModel } from 'fieldgate/methods'
import { DuplicateKey } from 'fieldgate/ports'
import { z } from 'zod'

const MINUTES = 10

/**
 * `POST /login/link` with an identifier mails what your page sends back as `POST /login` `{ link }`. Write the page's URL
 * around `{{code}}` in `mail.templates.signInCode`.
 */
export function magicLink(): Method<'magicLink'> {
  return defineMethod({
    name: 'magicLink',
    routes: [
      {
        name: 'sendLink',
        method: 'POST',
        path: '/login/link',
        access: 'anyone',
        summary: 'Mails a link that signs in, if the account exists',
        body: z.object({ identifier: z.string() }),
        refusals: [identifierRequired()],
      },
    ],
    open(accounts) {
      // A collection of its own: one link for each account, so that a new one ends the last.
      const links = accounts.collection(
        methodModel(accounts.model, 'MagicLink', {
          fields: { owner: z.string(), seal: z.string(), state: z.string(), expiresAt: z.date() },
          unique: ['owner'],
        }),
      )
      const ofOwner = (value: string) => ({ op: 'eq', field: 'owner', value }) as const
      const endLinkOf = async (owner: string) => void (await links.delete(ofOwner(owner)))
      const newLinkFor = async (user: Fields) => {
        const owner = String(user._id)
        const expiresAt = new Date(accounts.now() + MINUTES * 60_000)
        // Whoever asks again and again neither fills the mailbox nor ends the link that is being read.
        const rest = accounts.otp.resendSeconds * 1000
        const [last] = await links.find({ filter: ofOwner(owner), sort: [], limit: 1 })
        if (Number(last?.expiresAt ?? 0) > Number(expiresAt) - rest) return undefined
        const _id = accounts.newId()
        const code = `${_id}.${crypto.randomUUID()}`
        if (last) await links.delete({ op: 'eq', field: 'seal', value: String(last.seal) })
        // Only a seal of the link is stored, and what it is bound to: another address or password ends it.
        const [seal, state] = [accounts.seal(code), accounts.codeState(user)]
        const stored = links.insert({ _id, owner, seal, state, expiresAt }).then(() => true)
        if (!(await stored.catch(isTaken))) return undefined
        return { code, expiresAt, takeBack: () => endLinkOf(owner) }
      }
      return {
        handlers: {
          async sendLink(request) {
            const account = accounts.named(await accounts.body(request))
            if (!account) throw identifierRequired()
            return accounts.sendCode(request, account.find, newLinkFor)
          },
        },
        signIn: {
          takes: (body) => Object.hasOwn(body, 'link'),
          async respond({ link }, request, own) {
            if (typeof link !== 'string') throw new HttpError(400, 'Invalid credentials format.')
            // Removed before anything else, in one step: of parallel requests, one has it.
            const used = await links.delete(await sentAs(accounts, links, link))
            const user = used && (await accounts.byId(used.owner))
            const isGood =
              user &&
              Number(used.expiresAt) > accounts.now() &&
              used.state === accounts.codeState(user) &&
              !accounts.isDisabled(user) &&
              (own === undefined || own === used.owner)
            if (!isGood) throw expired()
            // The mailbox is proven: what others have put into the account before ends here.
            const owner = await accounts.prove(user, request, own)
            if (!owner) throw expired()
            return accounts.signIn(owner, request, { own })
          },
        },
        forget: endLinkOf,
      }
    },
  })
}

type Links = ReturnType<Accounts['collection']>

/** Finds what was sent as `link`: under any secret of the app, whose first one may have been replaced since. */
async function sentAs(accounts: Accounts, links: Links, link: string) {
  const [value] = /^[0-9a-f]{24}(?=\.)/.exec(link) ?? ['0'.repeat(24)]
  const [sent] = await links.find({ filter: { op: 'eq', field: '_id', value }, sort: [], limit: 1 })
  const isRight = accounts.isSealed(sent?.seal, link)
  return { op: 'eq', field: 'seal', value: isRight ? String(sent?.seal) : '' } as const
}

/** Another request was faster, and sends its link. */
function isTaken(error: unknown): false {
  if (error instanceof DuplicateKey) return false
  throw error
}

function identifierRequired(): HttpError {
  return new HttpError(400, 'An identifier is required.')
}

function expired(): HttpError {
  return new HttpError(401, 'This link has expired. Ask for a new one.')
}
