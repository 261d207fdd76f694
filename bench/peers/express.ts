/**
 * Express with Mongoose.
 *
 * @module
 */

import type { AddressInfo } from 'node:net'
import express from 'express'
import mongoose from 'mongoose'
import { pageOf, pagesOf } from './paging.ts'

const schema = new mongoose.Schema(
  {
    sku: { type: String, required: true, minlength: 1, maxlength: 40 },
    name: { type: String, required: true, minlength: 1, maxlength: 200 },
    category: { type: String, required: true, minlength: 1, maxlength: 60 },
    price: { type: Number, required: true, min: 0 },
    stock: { type: Number, required: true, min: 0 },
    active: { type: Boolean, required: true },
    description: { type: String, required: true, maxlength: 2000 },
  },
  { timestamps: true, versionKey: false },
)
const Product = mongoose.model('Product', schema)
await mongoose.connect(process.argv[2] ?? '', { autoIndex: false })

const order = { price: -1, _id: 1 } as const
const app = express()
app.use(express.json())

app.get('/products', async (request, response) => {
  const { category, s, page } = request.query as Record<string, string | undefined>
  const filter = {
    ...(category !== undefined && { category }),
    ...(s !== undefined && { name: { $regex: s.replace(/\W/g, '\\$&'), $options: 'i' } }),
  }
  const found = Product.find(filter).sort(order).limit(50)
  if (page === undefined) {
    response.json({ success: true, data: await found })
    return
  }
  const [data, total] = await Promise.all([
    found.skip((Number(page) - 1) * 50),
    Product.countDocuments(filter),
  ])
  response.json({ success: true, data, pagination: pagesOf(Number(page), total) })
})

app.get('/products/:id', async (request, response) => {
  const data = await Product.findById(request.params.id)
  response.status(data ? 200 : 404).json({ success: true, data })
})

app.get('/feed/products', async (request, response) => {
  const [price, id] = String(request.query.after).split('_')
  const after = { price: Number(price), _id: new mongoose.Types.ObjectId(id) }
  const found = await Product.find({
    price: { $lte: after.price },
    $or: [{ price: { $lt: after.price } }, { _id: { $gt: after._id } }],
  })
    .sort(order)
    .limit(51)
  response.json({ success: true, ...pageOf(found) })
})

app.post('/products', async (request, response) => {
  response.status(201).json({ success: true, data: await Product.create(request.body) })
})

const server = app.listen(0, '127.0.0.1', () => {
  console.log(`listening ${(server.address() as AddressInfo).port}`)
})
