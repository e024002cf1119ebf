import { HttpSeats } from '../src/http-seats.js';

/** Treats a seat as another guest's unless it has just reserved it. */
export class ForgetfulSeats extends HttpSeats {
  override async reserve(seat: string, guest: string): Promise<boolean> {
    return (await this.send(seat, { method: 'PUT', body: guest })).status === 201;
  }
}
